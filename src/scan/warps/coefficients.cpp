#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/failure.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

constexpr int cosine_code = 2008, quadratic_code = 2009;  // else cubic
/// Of a field: more than twice MNI152 at 0.5 mm. A few coefficients could ask for any size.
constexpr std::uint64_t max_voxels = std::uint64_t{512} * 512 * 512;

/// The functions that are not 0 at a voxel of an axis, from number `first` on.
struct axis_weights {
  std::size_t first = 0;
  std::vector<double> weight;
};
using axis_basis = std::vector<axis_weights>;  ///< by voxel

/// Uniform B-splines (Unser 1999, IEEE Signal Process Mag 16:22); `t`: the distance from the centre in knots.
double cubic_spline(double t) {
  t = std::abs(t);
  if (t >= 2) return 0;
  return t < 1 ? 2.0 / 3 - t * t * (1 - t / 2) : (2 - t) * (2 - t) * (2 - t) / 6;
}
double quadratic_spline(double t) {
  t = std::abs(t);
  if (t >= 1.5) return 0;
  return t <= 0.5 ? 0.75 - t * t : (1.5 - t) * (1.5 - t) / 2;
}

/// Spline number k is centred on voxel (k - 1) * spacing, with a spacing of 1 on voxel k.
axis_basis make_splines(std::size_t voxels, std::size_t count, std::size_t spacing, double (*spline)(double)) {
  axis_basis basis(voxels);
  for (std::size_t x = 0; x < voxels; ++x) {
    const double at = static_cast<double>(x) / static_cast<double>(spacing) + (spacing == 1 ? 0 : 1);
    const double first = std::max(0.0, std::ceil(at - 2)), last = std::min(static_cast<double>(count) - 1, at + 2);
    basis[x].first = static_cast<std::size_t>(first);
    for (double k = first; k <= last; ++k) basis[x].weight.push_back(spline(at - k));
  }
  return basis;
}

/// The orthonormal cosine transform (DCT-II; Ashburner 1999, Hum Brain Mapp 7:254).
axis_basis make_cosines(std::size_t voxels, std::size_t count) {
  axis_basis basis(voxels);
  const auto n = static_cast<double>(voxels);
  for (std::size_t x = 0; x < voxels; ++x)
    for (std::size_t k = 0; k < count; ++k) {
      const double phase = std::numbers::pi * (2 * static_cast<double>(x) + 1) * static_cast<double>(k) / (2 * n);
      basis[x].weight.push_back(std::sqrt((k == 0 ? 1 : 2) / n) * std::cos(phase));
    }
  return basis;
}

/// A box of numbers, x fastest.
struct number_box {
  std::array<std::size_t, 3> size;
  std::vector<double> values;
};

/// Replaces the coefficients along an axis by the sums of its functions at the voxels.
number_box expand_axis(const number_box& in, std::size_t axis, const axis_basis& basis) {
  number_box out{in.size, {}};
  out.size[axis] = basis.size();
  out.values.assign(out.size[0] * out.size[1] * out.size[2], 0);
  std::size_t stride = 1;
  for (std::size_t d = 0; d < axis; ++d) stride *= in.size[d];
  const std::size_t lines = in.values.size() / in.size[axis];
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t outer = line / stride, inner = line % stride;
    const double* from = in.values.data() + outer * stride * in.size[axis] + inner;
    double* to = out.values.data() + outer * stride * basis.size() + inner;
    for (std::size_t x = 0; x < basis.size(); ++x) {
      double sum = 0;
      for (std::size_t k = 0; k < basis[x].weight.size(); ++k)
        sum += basis[x].weight[k] * from[(basis[x].first + k) * stride];
      to[x * stride] = sum;
    }
  }
  return out;
}

/// What fnirt writes into the fields of a header that it needs for nothing else.
struct coefficient_header {
  std::array<std::uint64_t, 3> size{};     ///< of the field: the offsets of the qform
  std::array<std::uint64_t, 3> spacing{};  ///< of the knots, in voxels: pixdim
  std::array<double, 3> voxel_mm{};        ///< the parameters of the intent
  voxel_map affine;                        ///< the sform: from mm of the old image to mm of the field, as FLIRT's
};

coefficient_header read_fields(const nifti_header& header) {
  const std::string& name = header.path;
  const bool has_knots = header.intent.code != cosine_code;
  coefficient_header found;
  for (std::size_t d = 0; d < 3; ++d) {
    const double n = header.geometry.at("qoffset")[d], knots = header.geometry.at("pixdim")[d + 1];
    found.voxel_mm[d] = header.intent.parameters[d];
    if (!(n >= 2 && n <= 1024 && n == std::round(n)) || !(found.voxel_mm[d] > 0 && found.voxel_mm[d] < 1000))
      refuse_data(
          "{}: has {} voxels of {} mm along axis {} (qoffset, intent_p), expected the field's size as fnirt writes it",
          name, n, found.voxel_mm[d], d + 1);
    if (has_knots && !(knots >= 1 && knots <= n && knots == std::round(knots)))
      refuse_data("{}: pixdim[{}] is {}, expected the whole number of voxels between two knots", name, d + 1, knots);
    found.size[d] = static_cast<std::uint64_t>(n);
    found.spacing[d] = has_knots ? static_cast<std::uint64_t>(knots) : 1;
    for (std::size_t k = 0; k < 3; ++k) found.affine.axes[3 * d + k] = header.geometry.at("srow")[d][k];
    found.affine.origin[d] = header.geometry.at("srow")[d][3];
    const std::uint64_t count = header.grid.size[d];
    const std::uint64_t least = found.spacing[d] == 1 ? found.size[d] : (found.size[d] - 1) / found.spacing[d] + 2;
    if (has_knots ? count < least || count > least + 4 : count > found.size[d])
      refuse_data("{}: has {} coefficients along axis {}, expected about {} for {} voxels", name, count, d + 1,
                  has_knots ? least + 1 : found.size[d], found.size[d]);
  }
  if (found.size[0] * found.size[1] * found.size[2] > max_voxels)
    refuse_data("{}: its field has {} voxels (qoffset), expected at most {}", name, fmt::join(found.size, " x "),
                max_voxels);
  if (!(std::abs(determinant(found.affine.axes)) > 1e-6))
    refuse_data("{}: its affine part (sform) is singular, expected the matrix of FLIRT that fnirt began with", name);
  return found;
}

}  // namespace

mm_field expand_coefficients(const nifti_header& header) {
  const coefficient_header fields = read_fields(header);
  mm_field field;
  field.size = fields.size;
  field.to_voxel.axes = {1 / fields.voxel_mm[0], 0, 0, 0, 1 / fields.voxel_mm[1], 0, 0, 0, 1 / fields.voxel_mm[2]};
  field.mm.resize(fields.size[0] * fields.size[1] * fields.size[2]);
  const voxel_map start = fields.affine.inverse();
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<float> stored = read_volume(header, d);
    number_box sums{{header.grid.size[0], header.grid.size[1], header.grid.size[2]}, {stored.begin(), stored.end()}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t voxels = fields.size[axis], count = header.grid.size[axis];
      const auto spline = header.intent.code == quadratic_code ? quadratic_spline : cubic_spline;
      sums = expand_axis(sums, axis,
                         header.intent.code == cosine_code ? make_cosines(voxels, count)
                                                           : make_splines(voxels, count, fields.spacing[axis], spline));
    }
    for (std::size_t v = 0; v < field.mm.size(); ++v) {
      const std::size_t x = v % fields.size[0], y = v / fields.size[0] % fields.size[1],
                        z = v / (fields.size[0] * fields.size[1]);
      const vector3 mm = {static_cast<double>(x) * fields.voxel_mm[0], static_cast<double>(y) * fields.voxel_mm[1],
                          static_cast<double>(z) * fields.voxel_mm[2]};
      field.mm[v][d] = static_cast<float>(start(mm)[d] - mm[d] + sums.values[v]);
    }
  }
  return field;
}

}  // namespace voxherd
