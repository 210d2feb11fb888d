#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/program.hpp"
#include "kernels/tensor_field/field.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::bench;
using namespace voxherd::tensor_field;

constexpr double along = 1.7e-3, across = 0.3e-3;  // mm2/s: white matter

/// Unit vector of the fibres at a position: a helix about the z axis through the middle of the grid.
void fibre_axis(double x, double y, double (&t)[3]) {
  constexpr double rise = 20;  // voxels
  const double size = std::sqrt(x * x + y * y + rise * rise);
  t[0] = -y / size, t[1] = x / size, t[2] = rise / size;
}

/// A cube of white matter inside a ball, which fills about half of the image, as a brain does.
tensor_image helix_in_ball(std::uint64_t side) {
  tensor_image image;
  image.size = {side, side, side};
  image.axes_mm = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  const double middle = 0.5 * static_cast<double>(side - 1);
  const auto from_middle = [&](std::uint64_t k) { return static_cast<double>(k) - middle; };
  for (std::uint64_t k = 0; k < side; ++k)
    for (std::uint64_t j = 0; j < side; ++j)
      for (std::uint64_t i = 0; i < side; ++i) {
        const double x = from_middle(i), y = from_middle(j), z = from_middle(k);
        double t[3];
        fibre_axis(x, y, t);
        const double more = along - across;
        for (const double d : {across + more * t[0] * t[0], more * t[0] * t[1], more * t[0] * t[2],
                               across + more * t[1] * t[1], more * t[1] * t[2], across + more * t[2] * t[2]})
          image.tensor.push_back(static_cast<float>(d));
        image.inside.push_back(x * x + y * y + z * z < middle * middle);
      }
  return image;
}

/// From tensors in host memory to a field on the device, including allocation and copies, which device_seconds
/// excludes.
class field_problem final : public problem {
 public:
  field_problem(const device& d, std::uint64_t side, field_kind kind, bool spline, double smoothing)
      : device_(d), image_(helix_in_ball(side)), kind_(kind), spline_(spline) {
    how_.smoothing_voxels = smoothing;
  }

  void run() override {
    use_device(device_);
    field_.reset();
    field_ = make_field(device_, image_, {}, how_, kind_, spline_);
  }

  double device_seconds() const override { return field_->seconds; }

  /// FA everywhere inside, and, unless smoothed or filtered, the tensors in index space (voxels of 2 mm: a quarter).
  std::string find_error() const override {
    const double FA = (along - across) / std::sqrt(along * along + 2 * across * across);
    const auto facts = host_facts(*field_);
    const auto values = host_values(*field_);
    const std::size_t width = values.size() / facts.size();
    double worst = 0;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (!image_.inside[i]) continue;
      const double limit = how_.smoothing_voxels > 0 ? 0.05 : 1e-5;
      if (!(std::abs(facts[i].FA - FA) < limit)) return fmt::format("voxel {}: FA {}, expected {}", i, facts[i].FA, FA);
      if (how_.smoothing_voxels > 0 || spline_) continue;
      for (std::size_t e = 0; e < 6; ++e) {
        const double expected = static_cast<double>(image_.tensor[6 * i + e]) / 4 * field_->scale;
        worst = std::max(worst, std::abs(static_cast<double>(values[width * i + e]) - expected));
      }
    }
    return worst < 1e-5 ? "" : fmt::format("largest error of a tensor {:.2e}, expected below 1e-5", worst);
  }

  std::size_t voxels() const override { return image_.inside.size(); }

 private:
  device device_;
  tensor_image image_;
  field_kind kind_;
  bool spline_;
  preparation how_;
  std::unique_ptr<field> field_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_benchmarks(argc, argv, [](const bench_options& o) {
    const double voxels = o.voxels > 0 ? static_cast<double>(o.voxels) : 1e6;
    const auto side = static_cast<std::uint64_t>(std::lround(std::cbrt(voxels)));
    const auto add = [&](const char* name, field_kind kind, bool spline, double smoothing) {
      add_benchmark(fmt::format("geodesic_field/{}", name),
                    [=, d = o.chosen] { return std::make_unique<field_problem>(d, side, kind, spline, smoothing); });
    };
    add("tensor", field_kind::tensor, false, 0);
    add("tensor_spline", field_kind::tensor, true, 0);
    add("tensor_smooth", field_kind::tensor, false, 1);
    add("tensor_smooth_spline", field_kind::tensor, true, 1);
    add("christoffel", field_kind::christoffel, false, 0);
    add("christoffel_spline", field_kind::christoffel, true, 0);
    add("christoffel_smooth", field_kind::christoffel, false, 1);
  });
}
