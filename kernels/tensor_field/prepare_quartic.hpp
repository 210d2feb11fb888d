#pragma once

#include "kernels/tensor_field/finsler4.hpp"
#include "kernels/tensor_field/prepare_pipeline.hpp"

/// Steps of the preparation of a quartic field. The tensor of a voxel is in planes 0 to 5 of the workspace's first
/// block, its fourth-order tensor in the planes after those.
namespace voxherd::tensor_field::prepare {

inline constexpr int quartic_planes = 6 + quartic_size;

/// sym(G x G) with G = D^-1.
VOXHERD_FUNCTION inline void quartic_of_tensor(const double (&d)[6], double (&t)[quartic_size]) {
  double column[3][3];
  for (int k = 0; k < 3; ++k) {
    const double unit[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
    solve(d, unit, column[k]);
  }
  const double g[6] = {column[0][0], column[1][0], column[2][0], column[1][1], column[2][1], column[2][2]};
  quartic_of_metric(g, t);
}

/// Copies measured quartics to planes, in the unit of the tensors there.
struct quartic_loader {
  const float* measured;  ///< 15 per voxel
  planes to;
  tensor_state* state;
  float unit;  ///< unit of the tensors: stored divided by measured

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    if (!is_measured(state[i])) return;
    const float* m = measured + std::size_t{quartic_size} * i;
    const double factor = 1 / (static_cast<double>(unit) * static_cast<double>(unit));
    double t[quartic_size];
    for (int n = 0; n < quartic_size; ++n) t[n] = factor * static_cast<double>(m[n]);
    if (!is_sound(t)) {
      const tensor6 d = to.load(i);
      const double wide[6] = {d.xx, d.xy, d.xz, d.yy, d.yz, d.zz};
      quartic_of_tensor(wide, t);
      state[i] = tensor_state::repaired;
    }
    for (int n = 0; n < quartic_size; ++n) to.at(6 + n, i) = static_cast<float>(t[n]);
  }

 private:
  VOXHERD_FUNCTION static bool is_sound(const double (&t)[quartic_size]) {
    constexpr double most = static_cast<double>(max_medians) * static_cast<double>(max_medians);
    double size = 0;
    for (const double c : t) size += std::fabs(c);
    return size < most && t[0] * most > 1 && t[10] * most > 1 && t[14] * most > 1;  // false for NaN
  }
};

/// One step of Newton's method towards a minimum of T u u u u on the sphere; `u` stays a unit vector.
VOXHERD_FUNCTION inline void step_to_minimum(const double (&t)[quartic_size], double (&u)[3]) {
  const finsler4_at<double> at(t, u);
  const bool x_is_smallest = std::fabs(u[0]) <= std::fabs(u[1]) && std::fabs(u[0]) <= std::fabs(u[2]);
  const bool y_is_smallest = !x_is_smallest && std::fabs(u[1]) <= std::fabs(u[2]);
  const double axis[3] = {x_is_smallest ? 1.0 : 0.0, y_is_smallest ? 1.0 : 0.0,
                          x_is_smallest || y_is_smallest ? 0.0 : 1.0};
  double e[3] = {u[1] * axis[2] - u[2] * axis[1], u[2] * axis[0] - u[0] * axis[2], u[0] * axis[1] - u[1] * axis[0]};
  const double size = std::sqrt(dot(e, e));
  for (double& x : e) x /= size;
  const double f[3] = {u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0]};
  double te[3];
  apply(at.t2, e, te);
  // A quarter of gradient and Hessian in the tangent plane; the Hessian is made positive if necessary.
  const double along_e = dot(at.t1, e), along_f = dot(at.t1, f);
  double ee = 3 * dot(te, e) - at.q, ef = 3 * dot(te, f), ff = 3 * quadratic(at.t2, f) - at.q;
  const double half = (ee - ff) / 2, least = (ee + ff) / 2 - std::sqrt(half * half + ef * ef), floor = 1e-3 * at.q;
  if (least < floor) ee += floor - least, ff += floor - least;
  const double inverse_determinant = 1 / (ee * ff - ef * ef);
  const double a = -(ff * along_e - ef * along_f) * inverse_determinant;
  const double b = -(ee * along_f - ef * along_e) * inverse_determinant;
  double moved[3];
  for (int i = 0; i < 3; ++i) moved[i] = u[i] + a * e[i] + b * f[i];
  const double length = std::sqrt(dot(moved, moved));
  for (int i = 0; i < 3; ++i) u[i] = moved[i] / length;
}

/// The minimum of F over unit vectors: the best of 160, refined.
VOXHERD_FUNCTION inline double min_norm(const double (&t)[quartic_size]) {
  double best[3] = {0, 0, 1}, least = t[14];
  half_sphere directions;
  for (int i = 0; i < half_sphere::count; ++i) {
    double u[3];
    directions.next(u);
    const double q = quartic_value(t, u);
    if (q < least) least = q, best[0] = u[0], best[1] = u[1], best[2] = u[2];
  }
  for (int step = 0; step < 4; ++step) {
    step_to_minimum(t, best);
    const double q = quartic_value(t, best);
    if (!(q < least)) break;
    least = q;
  }
  return std::sqrt(std::sqrt(least));
}

/// Scales by the metric, writes the facts, and transforms to index space.
struct quartic_finisher {
  metric_rule metric;  ///< D_eff is a multiple of D
  double axes[9];      ///< index to world mm
  planes tensors;
  const std::uint8_t* inside;
  const std::uint32_t* regions;  ///< may be null
  voxel_facts* facts;
  float* values;  ///< 16 per voxel

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const tensor6 d = tensors.load(i);
    const effective e = metric(d);
    const double multiple = static_cast<double>(e.tensor.xx) / static_cast<double>(d.xx);
    double t[quartic_size], indexed[quartic_size];
    for (int n = 0; n < quartic_size; ++n) t[n] = static_cast<double>(tensors.at(6 + n, i)) / (multiple * multiple);
    // Rays never use the speed outside.
    const float speed = inside[i] ? static_cast<float>(1 / min_norm(t)) : std::sqrt(static_cast<float>(e.largest));
    facts[i] = {fractional_anisotropy(d), speed, region_word(regions, i, inside[i] != 0), 0};
    quartic_transformed(t, axes, indexed);
    float out[16] = {};
    for (int n = 0; n < quartic_size; ++n) out[n] = static_cast<float>(indexed[n]);
    auto* to = reinterpret_cast<four_floats*>(values + std::size_t{16} * i);
    for (int n = 0; n < 4; ++n) to[n] = {out[4 * n], out[4 * n + 1], out[4 * n + 2], out[4 * n + 3]};
  }
};

/// `quartics`: 15 per voxel, in the machine's memory. w.first has quartic_planes planes.
template <class Machine>
void prepare_quartic_field(Machine& machine, const recipe& r, const workspace& w, const float* quartics) {
  const std::uint32_t n = r.size.voxels();
  const planes all{w.first, n};
  machine.each(n, cleaner{w.measured, w.inside, all, w.state[0], r.input_unit, r.min_eigenvalue});
  machine.each(n, quartic_loader{quartics, all, w.state[0], r.input_unit});
  machine.count_repaired(w.state[0], n);

  const double b = r.background;
  const double isotropic[6] = {b, 0, 0, b, 0, b};
  double t[quartic_size];
  quartic_of_tensor(isotropic, t);
  std::array<float, quartic_planes> background{};
  std::copy(std::begin(isotropic), std::end(isotropic), background.begin());
  std::copy(std::begin(t), std::end(t), background.begin() + 6);
  fill<quartic_planes>(machine, r, w, background);

  quartic_finisher finish{r.metric, {}, all, w.inside, w.regions, w.facts, w.values};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) finish.axes[3 * i + j] = r.axes_transposed[3 * j + i];
  machine.each(n, finish);
  if (r.spline) to_coefficients(machine, r, w.values);
}

}  // namespace voxherd::tensor_field::prepare
