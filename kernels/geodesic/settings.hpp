#pragma once

#include <cstdint>

namespace voxherd::geodesic {

/// The equations of a ray.
enum class ray_form {
  christoffel,  ///< geodesics from D and the derivatives of its inverse (van Aart 2011, equations 2 to 4)
  hamiltonian,  ///< the same geodesics from D only: x' = D p, p' = -1/2 grad(p D p)
  finsler4,     ///< geodesics of a fourth-order tensor norm (Astola & Florack 2009)
  streamline,   ///< along the main eigenvector; not a geodesic
};

/// Interpolation of a field between voxel centres.
enum class interpolation {
  trilinear,
  bspline,  ///< cubic B-spline through the samples, differentiated exactly
  texture,  ///< trilinear by the GPU's texture unit, weights in steps of 1/256; only christoffel on a GPU
};

enum class integrator {
  euler,
  rk2_frozen,  ///< midpoint rule with the field read once per step, as in the paper: first order
  rk2,         ///< midpoint rule
  rk4,
};

enum class direction_kind {
  sphere,  ///< Fibonacci points on the sphere
  cone,    ///< Fibonacci points of a cap around the seed's axis, every second one around its opposite
  random,  ///< uniform on the sphere, keyed by the fibre's number
  axis,    ///< the seed's axis itself, in alternating directions
};

enum class measure_kind {
  ratio,     ///< Euclidean divided by Riemannian length (Astola 2007)
  relative,  ///< ratio divided by that of following the main eigenvector throughout: (0, 1]
  weakest,   ///< smallest relative speed along the fibre: (0, 1]
};

/// Reason why a ray ended.
enum class stop_reason : std::uint8_t {
  none,       ///< there is no such ray
  target,     ///< entered a target region
  exclude,    ///< entered an exclusion region
  volume,     ///< left the image
  mask,       ///< left the mask
  length,     ///< maximum length or number of steps
  curvature,  ///< angle between two steps above the limit
  FA,         ///< fractional anisotropy below the cutoff
  drift,      ///< energy drift above the limit
  loop,       ///< returned to an earlier position
  numbers,    ///< not a number, or a step more than twice as long as requested: a degenerate field
};
inline constexpr int stop_reasons = 11;

/// Outcome of a fibre (one ray, or two from the same seed in opposite directions).
enum class verdict : std::uint8_t {
  accepted,
  excluded,        ///< touched an exclusion region
  include_missed,  ///< did not pass all inclusion regions, or not in order
  no_target,       ///< an end is not in a target region
  too_short,       ///< below the minimum length
  below_measure,   ///< measure below the minimum
};
inline constexpr int verdicts = 6;

/// All settings that affect a fibre, apart from its seed and the field.
struct ray_settings {
  ray_form form = ray_form::hamiltonian;
  interpolation reading = interpolation::bspline;
  integrator method = integrator::rk2;
  float step_mm = 0;
  std::uint32_t max_steps = 0;  ///< largest number of steps of one ray
  float max_length_mm = 0;      ///< largest length of a path
  float min_length_mm = 0;      ///< smallest length of a path
  float min_cosine = -2;        ///< between two successive steps; below -1: any
  float min_FA = 0;             ///< 0: any
  float max_drift = 0;          ///< maximum |E / E0 - 1|; 0: any
  bool stop_at_loops = true;
  bool two_way = false;        ///< a fibre is two rays, along +u and -u
  bool targets = false;        ///< rays end in target regions, and fibres that do not reach one are rejected
  std::uint32_t includes = 0;  ///< number of inclusion regions, up to 14
  bool ordered = false;        ///< inclusion regions count only in order; not with two_way
  measure_kind measure = measure_kind::ratio;
  float min_measure = 0;

  direction_kind directions = direction_kind::sphere;
  std::uint32_t directions_per_seed = 1;
  float cone_degrees = 0;  ///< half angle
  std::uint64_t random_seed = 0;
};

}  // namespace voxherd::geodesic
