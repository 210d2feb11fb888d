#include <omp.h>

#include "kernels/geodesic/finsler_design.hpp"

namespace voxherd::geodesic {

namespace {

class cpu_solver final : public quartic_solver {
 public:
  cpu_solver(const device& d, const quartic_design_table& table, const quartic_settings& s)
      : table_(table), fitter_(table_.view(), table_.projector, s), threads_(d.threads) {}

  void fit(std::size_t count, const float* rows, const quartic_outputs& out) override {
    const auto n = static_cast<std::ptrdiff_t>(count);
    const std::size_t measurements = table_.view().tensor.measurements;
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 64)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const auto item = static_cast<std::size_t>(i);
      store(fitter_(signal_row{rows + item * measurements, 1}), item, out);
    }
  }

 private:
  quartic_design_table table_;
  quartic_fitter fitter_;
  int threads_;
};

}  // namespace

std::unique_ptr<quartic_solver> make_quartic_solver_cpu(const device& d, const quartic_design_table& table,
                                                        const quartic_settings& s) {
  return std::make_unique<cpu_solver>(d, table, s);
}

}  // namespace voxherd::geodesic
