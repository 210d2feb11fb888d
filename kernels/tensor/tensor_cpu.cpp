#include <omp.h>

#include <algorithm>

#include "kernels/tensor/tensor_design.hpp"

namespace voxherd {

namespace {

class cpu_solver final : public tensor_solver {
 public:
  cpu_solver(const device& d, const gradient_table& g, const tensor_settings& s)
      : table_(g),
        fitter_(table_.view(), s),
        threads_(d.threads),
        row_floats_(g.size() + (s.gradient_deviation ? 9 : 0)) {}

  void fit(std::size_t count, const float* rows, const tensor_outputs& out) override {
    const auto n = static_cast<std::ptrdiff_t>(count);
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 64)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const auto item = static_cast<std::size_t>(i);
      store(fitter_(signal_row{rows + item * row_floats_, 1}), item, out);
    }
  }

 private:
  tensor_design_table table_;
  tensor_fitter fitter_;
  int threads_;
  std::size_t row_floats_;
};

}  // namespace

std::unique_ptr<tensor_solver> make_tensor_solver_cpu(const device& d, const gradient_table& g,
                                                      const tensor_settings& s) {
  return std::make_unique<cpu_solver>(d, g, s);
}

}  // namespace voxherd
