#include "bench/geodesic_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace voxherd::bench {

namespace {

using namespace geodesic;

constexpr double k = 2 * 3.14159265358979323846 / 64;

struct slopes {
  double y_by_x, z_by_x, z_by_y;
};

slopes slopes_at(double x, double y) {
  return {2 * k * std::cos(k * x), -1.5 * k * std::sin(k * x), 2 * k * std::cos(k * y)};
}

/// y and z of the flat space: constant along the geodesics that are followed.
std::array<double, 2> flat(double x, double y, double z) {
  return {y + 2 * std::sin(k * x), z + 2 * std::sin(k * y) + 1.5 * std::cos(k * x)};
}

/// Only one field at a time stays on the device.
std::shared_ptr<field> make_field(const device& d, const std::array<std::uint64_t, 3>& size, ray_form form,
                                  bool spline) {
  static std::shared_ptr<field> kept;
  static std::tuple<int, std::array<std::uint64_t, 3>, field_kind, bool> of;
  const std::tuple wanted{d.threads, size, field_for(form), spline};
  if (!kept || of != wanted) {
    kept.reset();
    kept = make_field(d, wave_image(size), {}, {}, field_for(form), spline);
    of = wanted;
  }
  return kept;
}

ray_settings make_settings(const wave_run& how) {
  ray_settings s;
  s.form = how.form;
  s.reading = how.reading;
  s.method = how.method;
  s.step_mm = how.step_mm;
  s.max_steps = how.steps;
  s.directions = direction_kind::axis;
  return s;
}

class wave_problem final : public problem {
 public:
  wave_problem(const device& d, const std::array<std::uint64_t, 3>& size, const wave_run& how, std::size_t fibres)
      : device_(d), how_(how), fibres_(fibres), scores_(d, fibres) {
    use_device(d);
    field_ = make_field(d, size, how.form, how.reading == interpolation::bspline);
    seeds_ = wave_seeds(fibres, std::min<std::size_t>(64, size[0] / 4));
    tracker_ = make_tracker(*field_, seeds_, make_settings(how));
  }

  void run() override {
    use_device(device_);
    tracker_->score(0, fibres_, scores_.view());
  }

  /// Every fibre has full length, and the median error after 20 voxels is within the scheme's tolerance.
  std::string find_error() const override {
    const std::uint32_t* const steps = scores_.view().values<"steps">();
    const std::uint8_t* const stops = scores_.view().values<"stops">();
    for (std::size_t f = 0; f < fibres_; ++f) {
      if (steps[2 * f] != how_.steps)
        return fmt::format("fibre {}: {} steps, stop {}; expected {} steps", f, steps[2 * f], stops[2 * f], how_.steps);
    }
    const double median = median_error(), allowed = allowed_error();
    return median < allowed
               ? ""
               : fmt::format("median error {:.2e} voxels after 20 voxels, expected below {}", median, allowed);
  }

  std::size_t voxels() const override { return fibres_ * how_.steps; }
  std::string unit() const override { return "step"; }
  std::vector<std::pair<std::string, double>> more() const override {
    return {{"fibres", static_cast<double>(fibres_)},
            {"bytes_per_step", bytes_per_step(how_.form, how_.reading, how_.method)}};
  }

 private:
  /// Voxels. Trilinear interpolation and first-order integrators limit their own accuracy; the christoffel field is
  /// limited by its central differences.
  double allowed_error() const {
    const bool first_order = how_.method == integrator::euler || how_.method == integrator::rk2_frozen;
    if (how_.reading != interpolation::bspline || first_order) return 0.1;
    return how_.form == ray_form::christoffel ? 1e-2 : 2e-3;
  }

  double median_error() const {
    const std::size_t checked = std::min<std::size_t>(fibres_, 512);
    const auto steps = static_cast<std::uint32_t>(20 / how_.step_mm);
    std::vector<std::uint64_t> fibres(checked), offsets(checked + 1);
    std::vector<std::uint32_t> all(2 * checked, 0);
    for (std::size_t i = 0; i < checked; ++i) {
      fibres[i] = i * (fibres_ / checked);
      offsets[i + 1] = 2 * (i + 1);
      all[2 * i] = steps;
    }
    std::vector<float> points(6 * checked);
    tracker_->trace(fibres, all.data(), offsets, {points.data(), nullptr, nullptr});
    std::vector<double> errors;
    for (std::size_t i = 0; i < checked; ++i) {
      const float* p = &points[6 * i];
      const auto from = flat(p[0], p[1], p[2]), to = flat(p[3], p[4], p[5]);
      errors.push_back(std::hypot(to[0] - from[0], to[1] - from[1]));
    }
    std::nth_element(errors.begin(), errors.begin() + checked / 2, errors.end());
    return errors[checked / 2];
  }

  device device_;
  wave_run how_;
  std::size_t fibres_;
  score_memory scores_;
  std::shared_ptr<field> field_;
  std::vector<seed> seeds_;
  std::unique_ptr<tracker> tracker_;
};

}  // namespace

score_memory::score_memory(const device& d, std::size_t count)
    : memory_(d, count * output_bytes_per_item<fibre_scores>() + 8 * score_arrays::count) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < view_.count; ++i) {
    view_.array[i] = memory_.data() + end;
    end += (count * fibre_scores::table[i].bytes_per_item() + 7) / 8 * 8;
  }
}

double bytes_per_step(ray_form form, interpolation reading, integrator method) {
  const int voxels = reading == interpolation::bspline ? 64 : 8;
  // The Hamiltonian form contracts the derivatives while reading, so its constant field is read again.
  const bool twice = method == integrator::rk2 || (method == integrator::rk2_frozen && form == ray_form::hamiltonian);
  const int evaluations = method == integrator::rk4 ? 4 : twice ? 2 : 1;
  return static_cast<double>(sizeof(float)) * field_floats(field_for(form)) * voxels * evaluations;
}

tensor_image blank_image(const std::array<std::uint64_t, 3>& size) {
  tensor_image image;
  image.size = size;
  image.axes_mm = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::size_t voxels = size[0] * size[1] * size[2];
  image.inside.assign(voxels, 1);
  image.tensor.resize(6 * voxels);
  return image;
}

tensor_image wave_image(const std::array<std::uint64_t, 3>& size) {
  tensor_image image = blank_image(size);
  const std::size_t voxels = image.inside.size();
#pragma omp parallel for
  for (std::size_t v = 0; v < voxels; ++v) {
    const slopes s = slopes_at(static_cast<double>(v % size[0]), static_cast<double>(v / size[0] % size[1]));
    // Columns of the inverse Jacobian, multiplied by the eigenvalues 1, 0.2, 0.1 of D in the flat space.
    const double a[3] = {1, -s.y_by_x, s.y_by_x * s.z_by_y - s.z_by_x}, b[3] = {0, 1, -s.z_by_y}, c[3] = {0, 0, 1};
    std::size_t n = 6 * v;
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j)
        image.tensor[n++] = static_cast<float>(a[i] * a[j] + 0.2 * b[i] * b[j] + 0.1 * c[i] * c[j]);
    }
  }
  return image;
}

std::vector<seed> wave_seeds(std::size_t count, std::size_t columns) {
  std::vector<seed> seeds;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 2 + static_cast<double>(i % columns), y = 16 + static_cast<double>(i / columns % 32),
                 z = 16 + static_cast<double>(i / columns / 32 % 32);
    const slopes s = slopes_at(x, y);
    const double v[3] = {1, -s.y_by_x, s.y_by_x * s.z_by_y - s.z_by_x}, length = std::hypot(v[0], v[1], v[2]);
    seeds.push_back(
        {{x, y, z},
         {static_cast<float>(v[0] / length), static_cast<float>(v[1] / length), static_cast<float>(v[2] / length)}});
  }
  return seeds;
}

std::unique_ptr<problem> make_wave_problem(const device& d, const std::array<std::uint64_t, 3>& size,
                                           const wave_run& how, std::size_t fibres) {
  return std::make_unique<wave_problem>(d, size, how, fibres);
}

}  // namespace voxherd::bench
