#include "tests/geodesic/reference/geodesic_field_reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {
namespace {

using tensor_field::field_kind;
using tensor_field::metric_kind;
using tensor_field::preparation;
using tensor_field::tensor_image;

using matrix3 = square_matrix;  // of size 3
using maybe_tensor = std::optional<matrix3>;

/// Calls body(x, y, z, voxel's number) for all voxels.
void all_voxels(const tensor_image& image, const std::function<void(int, int, int, std::size_t)>& body) {
  std::size_t i = 0;
  for (int z = 0; z < int(image.size[2]); ++z)
    for (int y = 0; y < int(image.size[1]); ++y)
      for (int x = 0; x < int(image.size[0]); ++x) body(x, y, z, i++);
}

std::optional<std::size_t> voxel_number(const tensor_image& image, int x, int y, int z) {
  if (x < 0 || y < 0 || z < 0 || x >= int(image.size[0]) || y >= int(image.size[1]) || z >= int(image.size[2]))
    return {};
  return (std::size_t(z) * image.size[1] + std::size_t(y)) * image.size[0] + std::size_t(x);
}

matrix3 product(const matrix3& a, const matrix3& b) {
  matrix3 c(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

matrix3 transpose(const matrix3& a) {
  matrix3 t(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) t(i, j) = a(j, i);
  return t;
}

matrix3 inverse(const matrix3& a) {
  matrix3 b(3);
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<double> unit(3, 0.0), x;
    unit[column] = 1;
    solve_linear(a, unit, x);
    for (std::size_t row = 0; row < 3; ++row) b(row, column) = x[row];
  }
  return b;
}

/// Replaces each eigenvalue by f(eigenvalue).
matrix3 mapped(const matrix3& d, const std::function<double(double)>& f) {
  const eigen_system e = jacobi_eigen(d);
  matrix3 m(3);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) m(i, j) += f(e.values[k]) * e.vectors(i, k) * e.vectors(j, k);
  return m;
}

double trace(const matrix3& d) { return d(0, 0) + d(1, 1) + d(2, 2); }

std::array<double, 6> six(const matrix3& d) { return {d(0, 0), d(0, 1), d(0, 2), d(1, 1), d(1, 2), d(2, 2)}; }

template <class Numbers>
double median(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

std::vector<maybe_tensor> cleaned(const tensor_image& image, double least, std::uint64_t& repaired) {
  std::vector<maybe_tensor> tensors(image.inside.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!image.inside[i]) continue;
    const float* t = &image.tensor[6 * i];
    if (!std::all_of(t, t + 6, [](float x) { return std::isfinite(x); })) {
      ++repaired;
      continue;
    }
    matrix3 d(3);
    d(0, 0) = t[0], d(0, 1) = d(1, 0) = t[1], d(0, 2) = d(2, 0) = t[2];
    d(1, 1) = t[3], d(1, 2) = d(2, 1) = t[4], d(2, 2) = t[5];
    const auto l = jacobi_eigen(d).values;
    if (l[2] <= 0) ++repaired;
    if (l[0] > 0) tensors[i] = mapped(d, [&](double x) { return std::max(x, least * l[0]); });
  }
  return tensors;
}

/// Normalised convolution of the logarithms with a Gaussian cut, axis by axis, at three deviations.
std::vector<maybe_tensor> smoothed(const tensor_image& image, const std::vector<maybe_tensor>& from, double deviation) {
  std::vector<maybe_tensor> to(from.size()), logarithms(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i]) logarithms[i] = mapped(*from[i], [](double x) { return std::log(x); });
  const int radius = int(std::ceil(3 * deviation));
  all_voxels(image, [&](int x, int y, int z, std::size_t i) {
    if (!from[i]) return;
    matrix3 sum(3);
    double weights = 0;
    for (int c = -radius; c <= radius; ++c)
      for (int b = -radius; b <= radius; ++b)
        for (int a = -radius; a <= radius; ++a) {
          const auto j = voxel_number(image, x + a, y + b, z + c);
          if (!j || !from[*j]) continue;
          const double w = std::exp(-(a * a + b * b + c * c) / (2 * deviation * deviation));
          weights += w;
          for (std::size_t k = 0; k < 9; ++k) sum.values[k] += w * logarithms[*j]->values[k];
        }
    for (double& s : sum.values) s /= weights;
    to[i] = mapped(sum, [](double l) { return std::exp(l); });
  });
  return to;
}

std::vector<matrix3> filled(const tensor_image& image, std::vector<maybe_tensor> tensors, double background) {
  for (int round = 0; round < 3; ++round) {
    const auto before = tensors;
    all_voxels(image, [&](int x, int y, int z, std::size_t i) {
      if (before[i]) return;
      matrix3 sum(3);
      int count = 0;
      for (int c = -1; c <= 1; ++c)
        for (int b = -1; b <= 1; ++b)
          for (int a = -1; a <= 1; ++a) {
            const auto j = voxel_number(image, x + a, y + b, z + c);
            if (!j || !before[*j]) continue;
            ++count;
            for (std::size_t k = 0; k < 9; ++k) sum.values[k] += before[*j]->values[k];
          }
      if (count == 0) return;
      for (double& s : sum.values) s /= count;
      tensors[i] = sum;
    });
  }
  std::vector<matrix3> all;
  for (const auto& t : tensors) {
    matrix3 isotropic(3);
    for (std::size_t k = 0; k < 3; ++k) isotropic(k, k) = background;
    all.push_back(t ? *t : isotropic);
  }
  return all;
}

/// D_eff: the inverse of the metric, directly from the metric's definition.
matrix3 effective(const matrix3& d, const preparation& how) {
  const auto l = jacobi_eigen(d).values;
  const double det = l[0] * l[1] * l[2];
  switch (how.metric) {
    case metric_kind::inverse:
      return d;
    case metric_kind::adjugate:
      return mapped(d, [&](double x) { return 1 / (det / x); });
    case metric_kind::power:
      return mapped(d, [&](double x) { return 1 / std::pow(x, -how.alpha); });
    case metric_kind::jeong:
      return mapped(d,
                    [&](double x) { return 1 / (std::pow(det, -1.0 / 3) * std::pow(x / std::cbrt(det), -how.alpha)); });
  }
  return d;
}

double anisotropy(const matrix3& d) {
  const auto l = jacobi_eigen(d).values;
  const double mean = trace(d) / 3;
  double spread = 0, size = 0;
  for (const double x : l) spread += (x - mean) * (x - mean), size += x * x;
  return std::sqrt(1.5 * spread / size);
}

/// The power of two nearest to the squared voxel side divided by the median of D_eff's largest eigenvalues.
double expected_scale(const std::vector<maybe_tensor>& tensors, const preparation& how, double voxel_volume) {
  std::vector<double> largest;
  for (const auto& t : tensors)
    if (t) largest.push_back(jacobi_eigen(effective(*t, how)).values[0]);
  return std::exp2(std::round(std::log2(std::cbrt(voxel_volume) * std::cbrt(voxel_volume) / median(largest))));
}

double expected_background(const std::vector<maybe_tensor>& tensors) {
  std::vector<double> means;
  for (const auto& t : tensors)
    if (t) means.push_back(trace(*t) / 3);
  return median(means);
}

double determinant(const matrix3& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

/// Derivative at place p of samples f(0) to f(n - 1): central, of second order at the ends.
double derivative(const std::function<double(int)>& f, int p, int n) {
  if (n == 1) return 0;
  if (n == 2) return f(1) - f(0);
  if (p == 0) return -1.5 * f(0) + 2 * f(1) - 0.5 * f(2);
  if (p == n - 1) return 1.5 * f(p) - 2 * f(p - 1) + 0.5 * f(p - 2);
  return (f(p + 1) - f(p - 1)) / 2;
}

}  // namespace

geodesic_field prepare_geodesic_field(const tensor_image& image, std::span<const std::uint32_t> regions,
                                      const preparation& how, field_kind kind) {
  geodesic_field result;
  matrix3 axes(3);
  axes.values.assign(image.axes_mm.begin(), image.axes_mm.end());
  const matrix3 to_index = inverse(axes);
  auto measured = cleaned(image, how.min_eigenvalue, result.repaired);
  result.scale = expected_scale(measured, how, std::abs(determinant(axes)));
  const double background = expected_background(measured);
  if (how.smoothing_voxels > 0) measured = smoothed(image, measured, how.smoothing_voxels);
  const auto tensors = filled(image, measured, background);

  std::vector<std::array<double, 6>> fields, metrics;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    matrix3 d_eff = effective(tensors[i], how);
    for (double& x : d_eff.values) x *= result.scale;
    const double largest = jacobi_eigen(d_eff).values[0];
    d_eff = mapped(d_eff, [&](double x) { return std::max(x, 1e-6 * largest); });
    const auto l = jacobi_eigen(d_eff).values;
    const matrix3 g = product(transpose(axes), product(inverse(d_eff), axes));
    result.FA.push_back(anisotropy(tensors[i]));
    result.speed.push_back(std::sqrt(largest));
    result.condition.push_back(l[0] / l[2]);
    result.metric.push_back(std::max({g(0, 0), g(1, 1), g(2, 2)}));
    const std::uint32_t word = regions.empty() ? tensor_field::region::inside : regions[i];
    result.regions.push_back(image.inside[i] ? word : word & ~tensor_field::region::inside);
    fields.push_back(six(kind == field_kind::world ? d_eff : product(to_index, product(d_eff, transpose(to_index)))));
    metrics.push_back(six(g));
  }
  all_voxels(image, [&](int x, int y, int z, std::size_t i) {
    result.values.insert(result.values.end(), fields[i].begin(), fields[i].end());
    if (kind != field_kind::christoffel) {
      result.values.insert(result.values.end(), {0, 0});
      return;
    }
    const auto nx = int(image.size[0]), ny = int(image.size[1]), nz = int(image.size[2]);
    for (std::size_t e = 0; e < 6; ++e)
      result.values.push_back(derivative([&](int k) { return metrics[*voxel_number(image, k, y, z)][e]; }, x, nx));
    for (std::size_t e = 0; e < 6; ++e)
      result.values.push_back(derivative([&](int k) { return metrics[*voxel_number(image, x, k, z)][e]; }, y, ny));
    for (std::size_t e = 0; e < 6; ++e)
      result.values.push_back(derivative([&](int k) { return metrics[*voxel_number(image, x, y, k)][e]; }, z, nz));
  });
  return result;
}

std::vector<double> spline_coefficients(const std::vector<double>& samples) {
  const std::size_t n = samples.size();
  if (n == 1) return samples;
  square_matrix a(n);
  for (std::size_t k = 0; k < n; ++k) {
    a(k, k) += 4.0 / 6;
    a(k, k == 0 ? 1 : k - 1) += 1.0 / 6;
    a(k, k == n - 1 ? n - 2 : k + 1) += 1.0 / 6;
  }
  std::vector<double> c;
  solve_linear(a, samples, c);
  return c;
}

std::vector<double> spline_coefficients(const std::array<std::uint64_t, 3>& size, std::size_t width,
                                        std::vector<double> values) {
  std::size_t step = width;
  for (const std::size_t n : size) {
    for (std::size_t first = 0; first < values.size(); ++first) {
      if (first / step % n != 0) continue;
      std::vector<double> line(n);
      for (std::size_t k = 0; k < n; ++k) line[k] = values[first + k * step];
      line = spline_coefficients(line);
      for (std::size_t k = 0; k < n; ++k) values[first + k * step] = line[k];
    }
    step *= n;
  }
  return values;
}

}  // namespace voxherd::reference
