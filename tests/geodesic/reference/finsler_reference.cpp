#include "tests/geodesic/reference/finsler_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/portable/symmetric_eigen3.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"
#include "tests/tensor/reference/tensor_reference.hpp"

namespace voxherd::reference {

using vector3 = std::array<double, 3>;

double quartic_at(const quartic15& t, const vector3& v) {
  double sum = 0;
  for (std::size_t i = 0; i < 81; ++i) {
    const std::size_t index[4] = {i / 27, i / 9 % 3, i / 3 % 3, i % 3};
    std::size_t not_x = 0, z = 0;
    double product = 1;
    for (const std::size_t k : index) not_x += k > 0, z += k == 2, product *= v[k];
    sum += t[not_x * (not_x + 1) / 2 + z] * product;
  }
  return sum;
}

namespace {

/// Least squares for the quartic through (direction, value).
quartic15 fit_samples(const std::vector<vector3>& directions, const std::vector<double>& values) {
  square_matrix normal(15);
  std::vector<double> right(15, 0.0), solution;
  for (std::size_t k = 0; k < values.size(); ++k) {
    quartic15 row{};
    for (std::size_t n = 0; n < 15; ++n) {
      quartic15 one{};
      one[n] = 1;
      row[n] = quartic_at(one, directions[k]);
    }
    for (std::size_t i = 0; i < 15; ++i) {
      right[i] += row[i] * values[k];
      for (std::size_t j = 0; j < 15; ++j) normal(i, j) += row[i] * row[j];
    }
  }
  solve_linear(normal, right, solution);
  quartic15 t{};
  std::copy(solution.begin(), solution.end(), t.begin());
  return t;
}

vector3 normalised(const vector3& v) {
  const double size = std::hypot(v[0], v[1], v[2]);
  return {v[0] / size, v[1] / size, v[2] / size};
}

/// Laplace-Beltrami operator on the sphere: the Laplacian of a function that is constant along the radius.
double laplacian(const quartic15& f, const vector3& u) {
  constexpr double h = 1e-4;
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    vector3 more = u, less = u;
    more[axis] += h, less[axis] -= h;
    sum += (quartic_at(f, normalised(more)) - 2 * quartic_at(f, u) + quartic_at(f, normalised(less))) / (h * h);
  }
  return sum;
}

/// 1 / (16 pi^2) of the integral around the great circle across u (Aganj 2010, equation 14).
double odf_value(const quartic15& log_ratio, const vector3& u) {
  constexpr int around = 32;
  const vector3 other = std::fabs(u[0]) < 0.8 ? vector3{1, 0, 0} : vector3{0, 1, 0};
  const auto cross = [](const vector3& a, const vector3& b) {
    return vector3{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const vector3 p = normalised(cross(u, other)), q = cross(u, p);
  double sum = 0;
  for (int i = 0; i < around; ++i) {
    const double a = 2 * std::numbers::pi * i / around, c = std::cos(a), s = std::sin(a);
    sum += laplacian(log_ratio, {c * p[0] + s * q[0], c * p[1] + s * q[1], c * p[2] + s * q[2]});
  }
  return 2 * std::numbers::pi * sum / around / (16 * std::numbers::pi * std::numbers::pi);
}

/// The tensor with its eigenvalues raised.
struct raised_tensor {
  std::array<double, 3> value;
  std::array<vector3, 3> axis;

  double ADC(const vector3& g) const {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += value[k] * std::pow(g[0] * axis[k][0] + g[1] * axis[k][1] + g[2] * axis[k][2], 2);
    return sum;
  }
  double inverse_form(const vector3& u) const {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += std::pow(u[0] * axis[k][0] + u[1] * axis[k][1] + u[2] * axis[k][2], 2) / value[k];
    return sum;
  }
  double odf(const vector3& u) const {
    return std::pow(inverse_form(u), -1.5) / (4 * std::numbers::pi * std::sqrt(value[0] * value[1] * value[2]));
  }
};

raised_tensor raise(const tensor_voxel& v, double least) {
  square_matrix m(3);
  const std::size_t first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  for (std::size_t p = 0; p < 6; ++p) m(first[p], second[p]) = m(second[p], first[p]) = v.tensor[p];
  const eigen_system e = jacobi_eigen(m);
  // The signs of axes are arbitrary, but the 160 directions are not symmetric about an axis: use the kernel's.
  const auto& d = v.tensor;
  const auto kernels = symmetric_eigen3(d[0], d[1], d[2], d[3], d[4], d[5]);
  raised_tensor t{};
  for (std::size_t k = 0; k < 3; ++k) {
    t.value[k] = std::max(e.values[k], least * e.values[0]);
    double same = 0;
    for (std::size_t i = 0; i < 3; ++i) same += e.vectors(i, k) * kernels.vector[k][i];
    for (std::size_t i = 0; i < 3; ++i) t.axis[k][i] = std::copysign(1.0, same) * e.vectors(i, k);
  }
  return t;
}

}  // namespace

quartic15 fit_quartic(const gradient_table& g, std::span<const float> row, const quartic_settings& settings) {
  const tensor_voxel fitted = fit_tensor(g, row, settings.tensor);
  const raised_tensor tensor = raise(fitted, settings.min_eigenvalue);

  const double largest_b = *std::max_element(g.b_s_per_mm2.begin(), g.b_s_per_mm2.end());
  std::vector<vector3> measured;
  std::vector<double> log_ratios;
  for (std::size_t k = 0; k < g.size(); ++k) {
    if (g.b_s_per_mm2[k] < settings.min_b_fraction * largest_b || g.b_s_per_mm2[k] == 0) continue;
    measured.push_back({g.x[k], g.y[k], g.z[k]});
    const double ADC = -std::log(row[k] / fitted.S0) / g.b_s_per_mm2[k];
    log_ratios.push_back(std::log(std::clamp(ADC / tensor.ADC(measured.back()), 0.1224564, 8.1661699)));
  }
  const quartic15 log_ratio = fit_samples(measured, log_ratios);

  // Even directions w where the tensor is the identity: u = sum of value^(1/2) w_k axis_k.
  std::vector<vector3> even;
  std::vector<double> targets;
  for (int i = 0; i < 160; ++i) {
    const double z = 1 - (i + 0.5) / 160, r = std::sqrt(1 - z * z);
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0)) * i;
    even.push_back({r * std::cos(turn), r * std::sin(turn), z});
    vector3 u{};
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t a = 0; a < 3; ++a) u[a] += std::sqrt(tensor.value[k]) * even.back()[k] * tensor.axis[k][a];
    const double odf = tensor.odf(normalised(u)) + odf_value(log_ratio, normalised(u));
    targets.push_back(std::pow(std::max(odf / tensor.odf(normalised(u)), 0.2), -4.0 / 3));
  }
  const quartic15 round = fit_samples(even, targets);
  double mean = 0;
  for (const auto& [place, times] : {std::pair{0, 1}, {10, 1}, {14, 1}, {3, 2}, {5, 2}, {12, 2}})
    mean += times * round[static_cast<std::size_t>(place)] / 5;

  // Back-transformation: F of u is that of w, a quartic of u through values in more directions than it has components.
  std::vector<double> values;
  for (const vector3& u : even) {
    vector3 w{};
    for (std::size_t k = 0; k < 3; ++k)
      w[k] =
          (u[0] * tensor.axis[k][0] + u[1] * tensor.axis[k][1] + u[2] * tensor.axis[k][2]) / std::sqrt(tensor.value[k]);
    values.push_back(quartic_at(round, w) / mean);
  }
  return fit_samples(even, values);
}

}  // namespace voxherd::reference
