#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"
#include "tests/geodesic/reference/geodesic_fields.hpp"
#include "tests/geodesic/reference/geodesic_reading.hpp"

/// Seeds, fields and results for tests of the geodesic tracker.
namespace voxherd::reference {

/// Start of a ray: index coordinates, and a unit vector in world coordinates, as stored in a seed.
struct ray_start {
  vec3 voxel;
  vec3 u;
};

inline vec3 rounded_unit(const vec3& u) {
  const vec3 exact = unit(u);
  return {double(float(exact[0])), double(float(exact[1])), double(float(exact[2]))};
}

/// Positions uniform in a box of index coordinates, directions uniform on the sphere.
inline std::vector<ray_start> random_starts(std::size_t count, const vec3& low, const vec3& high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  std::vector<ray_start> starts(count);
  for (auto& [voxel, u] : starts) {
    for (std::size_t i = 0; i < 3; ++i) voxel[i] = low[i] + uniform(random) * (high[i] - low[i]), u[i] = normal(random);
    u = rounded_unit(u);
  }
  return starts;
}

/// With these seeds and direction_kind::axis, one ray per seed, fibre f is ray f.
inline std::vector<geodesic::seed> make_seeds(const std::vector<ray_start>& starts) {
  std::vector<geodesic::seed> seeds;
  for (const auto& [voxel, u] : starts)
    seeds.push_back({{voxel[0], voxel[1], voxel[2]}, {float(u[0]), float(u[1]), float(u[2])}});
  return seeds;
}

/// Of the angle between two successive steps on a circle: step = 2 radius sin(angle / 2).
inline float cosine_on_circle(float step_mm, float radius_mm) {
  const float ratio = step_mm / radius_mm;
  return 1 - ratio * ratio / 2;
}

inline geodesic::ray_settings rays_along_axes(geodesic::ray_form form, geodesic::interpolation reading,
                                              geodesic::integrator method, double step_mm, std::uint32_t steps) {
  geodesic::ray_settings s;
  s.form = form;
  s.reading = reading;
  s.method = method;
  s.step_mm = static_cast<float>(step_mm);
  s.max_steps = steps;
  s.stop_at_loops = false;
  s.directions = geodesic::direction_kind::axis;
  return s;
}

/// Storage for the scores of `count` fibres.
struct score_table {
  explicit score_table(std::size_t count)
      : verdict(count, 255),
        stops(2 * count, 255),
        regions(2 * count, -1),
        steps(2 * count, 1u << 31),
        measure(count, -1),
        length_mm(count, -1),
        metric_length(count, -1),
        relative(count, -1),
        weakest(count, -1),
        mean_FA(count, -1),
        drift(count, -1) {}

  geodesic::score_arrays view(std::size_t first = 0) {
    return {{&verdict[first], &regions[2 * first], &stops[2 * first], &steps[2 * first], &measure[first],
             &length_mm[first], &metric_length[first], &relative[first], &weakest[first], &mean_FA[first],
             &drift[first]}};
  }
  std::size_t size() const { return verdict.size(); }
  bool operator==(const score_table&) const = default;

  std::vector<std::uint8_t> verdict, stops;
  std::vector<std::int32_t> regions;
  std::vector<std::uint32_t> steps;
  std::vector<float> measure, length_mm, metric_length, relative, weakest, mean_FA, drift;
};

inline std::vector<vec3> as_places(const std::vector<float>& position) {
  std::vector<vec3> places;
  for (std::size_t i = 0; i < position.size(); i += 3)
    places.push_back({position[i], position[i + 1], position[i + 2]});
  return places;
}

/// A field on a device and the tracker's results for seeds in it.
class tracking_case {
 public:
  tracking_case(const device& d, const tensor_field::tensor_image& image, const std::vector<ray_start>& starts,
                const geodesic::ray_settings& settings, const std::vector<std::uint32_t>& regions = {},
                const tensor_field::preparation& how = {})
      : fibres_(starts.size() * settings.directions_per_seed) {
    use_device(d);
    field_ = tensor_field::make_field(d, image, regions, how, geodesic::field_for(settings.form),
                                      settings.reading == geodesic::interpolation::bspline);
    tracker_ = geodesic::make_tracker(*field_, make_seeds(starts), settings);
  }

  geodesic::tracker& tracker() { return *tracker_; }
  const tensor_field::field& field() const { return *field_; }

  score_table score() {
    score_table scores(fibres_);
    tracker_->score(0, fibres_, scores.view());
    return scores;
  }

  /// `points` points of every fibre, in world coordinates.
  std::vector<vec3> points(const score_table& scores, std::uint64_t points_per_fibre) {
    std::vector<std::uint64_t> all, offsets{0};
    for (std::uint64_t f = 0; f < fibres_; ++f) all.push_back(f), offsets.push_back((f + 1) * points_per_fibre);
    std::vector<float> position(3 * offsets.back());
    tracker_->trace(all, scores.steps.data(), offsets, {position.data(), nullptr, nullptr});
    return as_places(position);
  }

  /// The end points of the rays along +u.
  std::vector<vec3> ends(const score_table& scores) {
    const auto both = points(scores, 2);
    std::vector<vec3> last;
    for (std::size_t i = 1; i < both.size(); i += 2) last.push_back(both[i]);
    return last;
  }

 private:
  std::size_t fibres_;
  std::unique_ptr<tensor_field::field> field_;
  std::unique_ptr<geodesic::tracker> tracker_;
};

/// Possible displacement of a ray by rounding on voxels of 1.5 mm: 1e-4 of them or, where rays diverge quickly, the
/// displacement of the reference's own ray if it starts 5e-6 aside (about ten roundings of a float; steps that cross a
/// cell face, where a trilinear gradient jumps, do so at another time).
inline double allowed_mm(const std::vector<vec3>& ray, const std::vector<vec3>& beside) {
  double apart = 0;
  for (std::size_t i = 0; i < ray.size(); ++i) apart = std::max(apart, norm(ray[i] - beside[i]));
  return std::max(1.5e-4, apart);
}

/// The prepared `image` that a form and an interpolation require.
inline sampled_reader reader_for(const tensor_field::tensor_image& image, geodesic::ray_form form,
                                 geodesic::interpolation reading) {
  return {image, reading,
          form == geodesic::ray_form::christoffel ? inverse_derivatives::differences : inverse_derivatives::of_reading};
}

/// The quantile `p`.
inline double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(p * double(values.size() - 1) + 0.5)];
}

}  // namespace voxherd::reference
