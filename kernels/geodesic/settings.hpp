#pragma once

#include <cstdint>

namespace voxherd::geodesic {

/// The equations a ray follows.
enum class ray_form {
  christoffel,  ///< geodesics from D and the derivatives of its inverse (van Aart 2011, equations 2 to 4)
  hamiltonian,  ///< the same geodesics from D alone: x' = D p, p' = -1/2 grad(p D p)
  finsler4,     ///< geodesics of a fourth-order tensor norm (Astola & Florack 2009)
  streamline,   ///< not a geodesic: along the main eigenvector
};

/// How a field is read between voxel centres.
enum class interpolation {
  trilinear,
  bspline,  ///< cubic B-spline through the samples, differentiated exactly
  texture,  ///< trilinear by the GPU's filtering unit, weights in steps of 1/256; christoffel on a GPU alone
};

enum class integrator {
  euler,
  rk2_frozen,  ///< midpoint rule with the field read once a step, as the paper does: first order
  rk2,         ///< midpoint rule
  rk4,
};

enum class direction_kind {
  sphere,  ///< Fibonacci points on the sphere
  cone,    ///< Fibonacci points of a cap about the seed's axis, every second one about its opposite
  random,  ///< uniform on the sphere, drawn by the fibre's own number
  axis,    ///< the seed's axis itself, forth and back in turn
};

enum class measure_kind {
  ratio,     ///< Euclidean over Riemannian length (the paper's)
  relative,  ///< ratio over what following the main eigenvector all along would give: (0, 1]
  weakest,   ///< smallest relative speed on the way: (0, 1]
};

/// Why a ray ended.
enum class stop_reason : std::uint8_t {
  none,       ///< there is no such ray
  target,     ///< entered a target region
  exclude,    ///< entered an exclusion region
  volume,     ///< left the image
  mask,       ///< left the mask
  length,     ///< longest length or number of steps
  curvature,  ///< turned more sharply than allowed
  FA,         ///< fractional anisotropy below the cutoff
  drift,      ///< energy drift above what is allowed
  loop,       ///< came back to where it had been
  numbers,    ///< not a number, or a step more than twice as long as asked: a degenerate field
};
inline constexpr int stop_reasons = 11;

/// What became of a fibre (one ray, or two from the same seed in opposite directions).
enum class verdict : std::uint8_t {
  accepted,
  excluded,        ///< touched an exclusion region
  include_missed,  ///< did not pass all inclusion regions, or not in their order
  no_target,       ///< an end is in no target region
  too_short,       ///< below the least length
  below_measure,   ///< measure below the least one
};
inline constexpr int verdicts = 6;

/// All that decides a fibre, beside its seed and the field.
struct ray_settings {
  ray_form form = ray_form::hamiltonian;
  interpolation reading = interpolation::bspline;
  integrator method = integrator::rk2;
  float step_mm = 0;
  std::uint32_t max_steps = 0;  ///< of one ray
  float max_length_mm = 0;      ///< of a fibre
  float min_length_mm = 0;      ///< of a fibre
  float min_radius_mm = 0;      ///< smallest radius of curvature; 0: any
  float min_FA = 0;             ///< 0: any
  float max_drift = 0;          ///< largest |E / E0 - 1|; 0: any
  bool stop_at_loops = true;
  bool two_way = false;        ///< a fibre is two rays, along +u and -u
  bool targets = false;        ///< rays end in target regions, and fibres that do not reach one are refused
  std::uint32_t includes = 0;  ///< number of inclusion regions, up to 14
  bool ordered = false;        ///< inclusion regions count in their order alone; not with two_way
  measure_kind measure = measure_kind::ratio;
  float min_measure = 0;

  direction_kind directions = direction_kind::sphere;
  std::uint32_t directions_per_seed = 1;
  float cone_degrees = 0;  ///< half angle
  std::uint64_t random_seed = 0;
};

}  // namespace voxherd::geodesic
