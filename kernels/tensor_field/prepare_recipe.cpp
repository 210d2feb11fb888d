#include "kernels/tensor_field/prepare_recipe.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace voxherd::tensor_field {

double min_eigenvalue(metric_kind metric, double alpha, double max_ratio) {
  return has_exponent(metric) ? std::pow(max_ratio, -1 / alpha) : 1 / max_ratio;
}

}  // namespace voxherd::tensor_field

namespace voxherd::tensor_field::prepare {

namespace {

using matrix = std::array<double, 9>;

double determinant(const matrix& a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

matrix inverse(const matrix& a) {
  const double f = 1 / determinant(a);
  return {f * (a[4] * a[8] - a[5] * a[7]), f * (a[2] * a[7] - a[1] * a[8]), f * (a[1] * a[5] - a[2] * a[4]),
          f * (a[5] * a[6] - a[3] * a[8]), f * (a[0] * a[8] - a[2] * a[6]), f * (a[2] * a[3] - a[0] * a[5]),
          f * (a[3] * a[7] - a[4] * a[6]), f * (a[1] * a[6] - a[0] * a[7]), f * (a[0] * a[4] - a[1] * a[3])};
}

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(std::string("make_field: ") + why); }

void check(const tensor_image& image, const preparation& settings) {
  constexpr std::uint64_t most = std::uint64_t{1} << 28;  // line and voxel numbers fit into 32 bits
  std::uint64_t voxels = 1;
  for (const std::uint64_t n : image.size) {
    if (n < 1 || n > most || voxels * n > most) refuse("expected an image of 1 to 2^28 voxels");
    voxels *= n;
  }
  if (image.inside.size() != voxels) refuse("the arrays do not have the image's number of voxels");
  if (!(std::abs(determinant(image.axes_mm)) > 0)) refuse("the image's axes are linearly dependent");
  if (!(settings.smoothing_voxels >= 0) || settings.smoothing_voxels > 10) refuse("smoothing_voxels not in 0 to 10");
  if (!(settings.min_eigenvalue >= 0) || settings.min_eigenvalue > 1) refuse("min_eigenvalue not in 0 to 1");
  if (!(settings.alpha >= 0) || settings.alpha > 16) refuse("alpha not in 0 to 16");
}

/// Decreasing eigenvalues of the valid ones of these tensors.
std::vector<std::array<double, 3>> eigenvalues_of(std::span<const float> tensors, double least) {
  std::vector<std::array<double, 3>> sample;
  for (const float* t = tensors.data(); t != tensors.data() + tensors.size(); t += 6) {
    const auto e = symmetric_eigen3<double>(t[0], t[1], t[2], t[3], t[4], t[5]);
    if (!(e.value[0] > 0) || !std::isfinite(e.value[0])) continue;
    const double floor = least * e.value[0];
    sample.push_back({e.value[0], std::max(e.value[1], floor), std::max(e.value[2], floor)});
  }
  return sample;
}

template <class Sample, class Number>
double median(const Sample& sample, const Number& number) {
  std::vector<double> numbers;
  for (const auto& one : sample) numbers.push_back(number(one));
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// The largest eigenvalue of D_eff is homogeneous in the tensor of this degree.
double homogeneity_degree(const preparation& settings) {
  switch (settings.metric) {
    case metric_kind::adjugate:
      return -2;
    case metric_kind::power:
      return settings.alpha;
    default:
      return 1;
  }
}

/// log2 of the largest eigenvalue of D_eff. `l`: decreasing eigenvalues, as logarithms to base 2.
double log2_effective(const preparation& settings, const std::array<double, 3>& l) {
  const double log2_determinant = l[0] + l[1] + l[2];
  switch (settings.metric) {
    case metric_kind::adjugate:
      return l[0] - log2_determinant;
    case metric_kind::power:
      return settings.alpha * l[0];
    case metric_kind::jeong:
      return (1 - settings.alpha) / 3 * log2_determinant + settings.alpha * l[0];
    default:
      return l[0];
  }
}

/// Chooses powers of two from medians over a sample.
void choose_units(const tensor_image& image, std::span<const float> tensors, const preparation& settings, recipe& r) {
  auto sample = eigenvalues_of(tensors, r.min_eigenvalue);
  if (sample.empty()) sample.push_back({1, 1, 1});
  const double log2_unit = -std::round(std::log2(median(sample, [](const auto& l) { return l[0]; })));
  r.input_unit = static_cast<float>(std::exp2(log2_unit));
  r.background =
      static_cast<float>(std::exp2(log2_unit) * median(sample, [](const auto& l) { return (l[0] + l[1] + l[2]) / 3; }));
  const double log2_typical = median(sample, [&](const auto& l) {
    return log2_effective(settings, {std::log2(l[0]), std::log2(l[1]), std::log2(l[2])});
  });
  // The side of a voxel is taken as the cube root of its volume; D_eff scales with its square.
  const double log2_side = std::log2(std::abs(determinant(image.axes_mm))) / 3;
  const double log2_scale = std::round(2 * log2_side - log2_typical);
  r.scale = std::exp2(log2_scale);
  r.metric.unit = static_cast<float>(std::exp2(log2_scale - homogeneity_degree(settings) * log2_unit));
}

}  // namespace

std::vector<std::uint32_t> unit_voxels(std::span<const std::uint8_t> inside) {
  const auto all =
      static_cast<std::size_t>(std::count_if(inside.begin(), inside.end(), [](std::uint8_t i) { return i != 0; }));
  const std::size_t every = std::max<std::size_t>(1, all / 1024);
  std::vector<std::uint32_t> chosen;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (inside[i] != 0 && seen++ % every == 0) chosen.push_back(static_cast<std::uint32_t>(i));
  return chosen;
}

recipe make_recipe(const tensor_image& image, const preparation& settings, field_kind kind, bool spline) {
  check(image, settings);
  if (image.tensor.size() != 6 * image.inside.size()) refuse("the arrays do not have the image's number of voxels");
  std::vector<float> sample;
  for (const std::uint32_t v : unit_voxels(image.inside))
    sample.insert(sample.end(), &image.tensor[6 * std::size_t{v}], &image.tensor[6 * std::size_t{v}] + 6);
  return make_recipe(image, sample, settings, kind, spline);
}

recipe make_recipe(const tensor_image& image, std::span<const float> sample, const preparation& settings,
                   field_kind kind, bool spline) {
  check(image, settings);
  recipe r;
  const auto n = [&](int k) { return static_cast<std::uint32_t>(image.size[static_cast<std::size_t>(k)]); };
  r.size = {n(0), n(1), n(2)};
  r.min_eigenvalue = std::max(min_eigenvalue_ratio, static_cast<float>(settings.min_eigenvalue));
  r.metric = {settings.metric, static_cast<float>(settings.alpha), 1};
  r.smoothing_voxels = settings.smoothing_voxels;
  r.kind = kind;
  r.spline = spline;
  const matrix inverted = inverse(image.axes_mm);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      r.to_index[3 * i + j] = inverted[3 * i + j];
      r.axes_transposed[3 * i + j] = image.axes_mm[3 * j + i];
    }
  choose_units(image, sample, settings, r);
  return r;
}

field_view make_view(const tensor_image& image) {
  field_view v{};
  const matrix inverted = inverse(image.axes_mm);
  for (std::size_t k = 0; k < 3; ++k) {
    v.size[k] = static_cast<int>(image.size[k]);
    v.origin_mm[k] = static_cast<float>(image.origin_mm[k]);
  }
  for (std::size_t k = 0; k < 9; ++k) {
    v.axes[k] = static_cast<float>(image.axes_mm[k]);
    v.inverse_axes[k] = static_cast<float>(inverted[k]);
  }
  return v;
}

}  // namespace voxherd::tensor_field::prepare
