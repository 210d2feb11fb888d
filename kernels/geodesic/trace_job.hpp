#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/geodesic/settings.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "kernels/portable/draws.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

/// One step of an explicit Runge-Kutta rule in which each stage needs only the previous one.
struct step_rule {
  int stages;
  float ahead[4];  ///< distance along the previous stage's rates at which this one evaluates, in steps
  float weight[4];
  bool frozen;  ///< the field is read only at the first stage
};

/// Inputs of a batch of fibres, in the memory of the device that integrates it.
struct trace_job {
  field_view field;
  std::uint64_t textures[6];  ///< only on a GPU, if the field is read by its texture unit
  ray_settings rays;
  step_rule rule;
  float unit_length;  ///< unit length of the stored metric, in the unit of the true one
  const seed* seeds;
  std::uint64_t count;  ///< number of fibres of the batch

  std::uint64_t first;  ///< pass one: number of the first fibre
  score_arrays scores;

  const std::uint64_t* chosen;   ///< pass two: numbers of the fibres; null in pass one
  const std::uint32_t* steps;    ///< 2 per fibre
  const std::uint64_t* offsets;  ///< count + 1
  point_view points;
};

/// Creates a job and sets all members that follow from the field and the settings.
trace_job begin_job(const field& f, const ray_settings& settings);

// The backends of make_tracker().
std::unique_ptr<tracker> make_tracker_cpu(const field& f, std::span<const seed> seeds, const ray_settings& settings);
std::unique_ptr<tracker> make_tracker_cuda(const field& f, std::span<const seed> seeds, const ray_settings& settings);

namespace detail {

/// Sine and cosine of an angle in turns, 0 to 1.
VOXHERD_FUNCTION inline void sincos_turns(double turns, double& sine, double& cosine) {
#if defined(__CUDA_ARCH__)
  sincospi(2 * turns, &sine, &cosine);
#else
  sine = std::sin(turns * 6.283185307179586);
  cosine = std::cos(turns * 6.283185307179586);
#endif
}

/// Unit vector with the given cosine to `axis`, rotated by `turns` turns about it.
VOXHERD_FUNCTION inline void about_axis(const float (&axis)[3], double cosine, double turns, float (&out)[3]) {
  // Two directions perpendicular to the axis (Duff 2017).
  const double x = axis[0], y = axis[1], z = axis[2];
  const double sign = z < 0 ? -1 : 1, a = -1 / (sign + z), b = x * y * a;
  const double first[3] = {1 + sign * x * x * a, sign * b, -sign * x}, second[3] = {b, sign + y * y * a, -y};
  const double sine = std::sqrt(cosine < 1 && cosine > -1 ? 1 - cosine * cosine : 0.0);
  double s, c;
  sincos_turns(turns - std::floor(turns), s, c);
  s *= sine, c *= sine;
  for (int i = 0; i < 3; ++i) out[i] = static_cast<float>(cosine * axis[i] + c * first[i] + s * second[i]);
}

constexpr double golden_turn = 0.38196601125010515;  // (3 - sqrt(5)) / 2

}  // namespace detail

/// The world direction of fibre number `fibre`, the n-th of its seed; depends only on the arguments.
VOXHERD_FUNCTION inline void start_direction(const ray_settings& s, const seed& from, std::uint64_t fibre,
                                             std::uint32_t n, float (&out)[3]) {
  const auto count = static_cast<double>(s.directions_per_seed);
  switch (s.directions) {
    case direction_kind::sphere: {
      // Two-way fibres start along both ends of an axis: half a sphere contains all of them.
      const float up[3] = {0, 0, 1};
      detail::about_axis(up, 1 - (s.two_way ? 1 : 2) * (n + 0.5) / count, n * detail::golden_turn, out);
      return;
    }
    case direction_kind::cone: {
      // Two-way fibres need one cap; one-way fibres alternate between opposite caps.
      const bool opposite = !s.two_way && n % 2 == 1;
      const double of = s.two_way ? count : std::floor((count + (n % 2 == 0 ? 1 : 0)) / 2);
      const double place = s.two_way ? n : n / 2;
      const double depth = 1 - std::cos(s.cone_degrees * 0.017453292519943295);
      detail::about_axis(from.axis, 1 - depth * (place + 0.5) / of, place * detail::golden_turn, out);
      if (opposite) {
        for (float& x : out) x = -x;
      }
      return;
    }
    case direction_kind::random: {
      const auto words = draw_words(s.random_seed, fibre, 0);
      const float up[3] = {0, 0, 1};
      constexpr double unit = 1.0 / 4294967296.0;
      detail::about_axis(up, 1 - 2 * ((words.v[0] + 0.5) * unit), words.v[1] * unit, out);
      return;
    }
    case direction_kind::axis:
      break;
  }
  const float sign = n % 2 == 0 ? 1.0f : -1.0f;
  for (int i = 0; i < 3; ++i) out[i] = sign * from.axis[i];
}

}  // namespace voxherd::geodesic
