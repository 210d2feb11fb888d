#include <fmt/core.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "bench/gradient_scheme.hpp"
#include "bench/program.hpp"
#include "kernels/tensor/tensor_estimator.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;

using tensor6 = std::array<double, 6>;  // xx, xy, xz, yy, yz, zz, mm2/s

/// 0.4e-3 mm2/s across a random axis, 1.6e-3 along it.
template <class Random>
tensor6 any_tensor(Random& random) {
  std::normal_distribution<double> normal;
  double x = normal(random), y = normal(random), z = normal(random);
  const double size = std::hypot(x, y, z), across = 0.4e-3, more_along = 1.2e-3;
  x /= size, y /= size, z /= size;
  return {across + more_along * x * x, more_along * x * y, more_along * x * z,
          across + more_along * y * y, more_along * y * z, across + more_along * z * z};
}

double signal_of(const tensor6& t, const gradient_table& g, std::size_t k) {
  const double x = g.x[k], y = g.y[k], z = g.z[k];
  const double along = t[0] * x * x + t[3] * y * y + t[5] * z * z + 2 * (t[1] * x * y + t[2] * x * z + t[4] * y * z);
  return 1000 * std::exp(-g.b_s_per_mm2[k] * along);
}

/// Noise-free tensors, fitted with the default: weighted least squares, two iterations.
class tensor_problem final : public problem {
 public:
  tensor_problem(const device& d, std::size_t measurements, std::size_t voxels)
      : device_(d), layout_(preferred_layout(d)), truth_(voxels) {
    use_device(d);
    const gradient_table gradients = make_gradient_table(measurements);
    signals_ = host_buffer(d, voxels * measurements * sizeof(float));
    std::mt19937_64 random(20130429);
    auto* const signal = reinterpret_cast<float*>(signals_.data());
    for (std::size_t i = 0; i < voxels; ++i) {
      truth_[i] = any_tensor(random);
      for (std::size_t k = 0; k < measurements; ++k)
        signal[layout_ == input_layout::rows ? i * measurements + k : k * voxels + i] =
            static_cast<float>(signal_of(truth_[i], gradients, k));
    }
    allocate_results();
    solver_ = make_voxelwise_solver(d, tensor_estimator(gradients, {}));
  }

  void run() override {
    use_device(device_);
    solver_->fit(voxels(), reinterpret_cast<const float*>(signals_.data()), layout_, out_);
  }

  /// Every voxel is fitted, and its tensor is within 1e-5 of the largest diffusivity.
  std::string find_error() const override {
    double worst = 0;
    for (std::size_t i = 0; i < voxels(); ++i) {
      if (out_.values<"status">()[i] != 0)
        return fmt::format("voxel {}: status {}, expected 0, fitted", i, out_.values<"status">()[i]);
      for (std::size_t j = 0; j < 6; ++j) {
        const double error = std::abs(static_cast<double>(out_.values<"tensor">()[6 * i + j]) - truth_[i][j]) / 1.6e-3;
        if (!(error <= worst)) worst = error;
      }
    }
    return worst < 1e-5 ? "" : fmt::format("largest relative error of a tensor {:.2e}, expected below 1e-5", worst);
  }

  std::size_t voxels() const override { return truth_.size(); }

 private:
  void allocate_results() {
    for (std::size_t i = 0; i < out_.count; ++i) {
      results_.emplace_back(device_, voxels() * tensor_outputs::table[i].bytes_per_item());
      out_.array[i] = results_.back().data();
    }
  }

  device device_;
  input_layout layout_;
  std::vector<tensor6> truth_;
  host_buffer signals_;
  std::vector<host_buffer> results_;
  tensor_solver::outputs out_;
  std::unique_ptr<tensor_solver> solver_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv, [](const bench_options& o) {
    const std::size_t usual = o.chosen.kind == backend::cuda ? 262144 : 4096;
    const std::size_t voxels = o.voxels > 0 ? o.voxels : usual;
    for (const std::size_t k : {33, 68, 288})
      add_benchmark(fmt::format("tensor/iwls/K{}", k),
                    [=, d = o.chosen] { return std::make_unique<tensor_problem>(d, k, voxels); });
  });
}
