
#include <cmath>

#include "core/failure.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

namespace intent {
constexpr int displacement = 1006, vector = 1007;  // of the standard, also of ITK
constexpr int fnirt = 2006, cubic = 2007, cosines = 2008, quadratic = 2009, first_of_topup = 2016, last_of_topup = 2018;
}  // namespace intent

/// The three components, in FSL's storage if `grid` is turned.
mm_field read_components(const nifti_header& header, const fsl_grid& grid) {
  mm_field field;
  field.size = grid.size;
  field.mm.resize(grid.voxel_count());
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<float> values = read_volume(header, d);
    for (std::uint64_t v = 0; v < values.size(); ++v) field.mm[grid.turned(v)][d] = values[v];
  }
  return field;
}

/// The sum of the components' standard deviations; of the displacements, or of displacements minus positions.
double sum_of_deviations(const mm_field& field, const image_grid& grid, bool minus_position) {
  double sum[3] = {}, squares[3] = {};
  for (std::uint64_t v = 0; v < field.mm.size(); ++v) {
    const vector3 at = voxel_position(grid, v);
    for (std::size_t d = 0; d < 3; ++d) {
      const double mm = static_cast<double>(field.mm[v][d]) - (minus_position ? at[d] * grid.voxel_size_mm[d] : 0);
      sum[d] += mm;
      squares[d] += mm * mm;
    }
  }
  const auto n = static_cast<double>(field.mm.size());
  double total = 0;
  for (std::size_t d = 0; d < 3; ++d) total += std::sqrt(std::max(0.0, squares[d] / n - sum[d] / n * (sum[d] / n)));
  return total;
}

/// Positions minus their own place. What only the rounding of positions leaves is 0.
void make_relative(mm_field& field, const image_grid& grid) {
  for (std::uint64_t v = 0; v < field.mm.size(); ++v) {
    const vector3 at = voxel_position(grid, v);
    for (std::size_t d = 0; d < 3; ++d) {
      float& mm = field.mm[v][d];
      const double own = at[d] * grid.voxel_size_mm[d], moved = static_cast<double>(mm) - own;
      mm = std::abs(moved) <= 1e-7 * own ? 0 : static_cast<float>(moved);
    }
  }
}

}  // namespace

transform read_fsl_field(const nifti_header& header) {
  const std::string& name = header.path;
  const int code = header.intent.code;
  if (header.volumes != 3) refuse_data("{}: has {} volumes, expected the 3 of a warp", name, header.volumes);
  if (code >= intent::first_of_topup && code <= intent::last_of_topup)
    refuse_data("{}: is a field of topup (intent code {}), expected a warp", name, code);
  transform t;
  t.frame = mm_frame::fsl;
  if (code == intent::cubic || code == intent::quadratic || code == intent::cosines) {
    t.field = expand_coefficients(header);
    return t;
  }
  const fsl_grid grid(header);
  t.field = read_components(header, grid);
  check_displacements(t.field, name);
  t.field.to_voxel = to_fsl_mm(grid).inverse();
  // FSL's rule where the code does not say which: the smaller deviations are those of displacements.
  if (code != intent::fnirt && sum_of_deviations(t.field, grid, false) > sum_of_deviations(t.field, grid, true))
    make_relative(t.field, grid);
  return t;
}

transform read_itk_field(const nifti_header& header) {
  const std::string& name = header.path;
  if (header.volumes != 3 || header.series != 3)
    refuse_data("{}: has {} x {} values per voxel, expected the 1 x 3 of a displacement field of ITK", name,
                header.volumes / header.series, header.series);
  if (header.intent.code != intent::displacement && header.intent.code != intent::vector)
    refuse_data("{}: has intent code {}, expected {} (vector), a displacement field of ITK", name, header.intent.code,
                intent::vector);
  if (header.intent.name == "Mapping")
    refuse_data(
        "{}: is a deformation of SPM, which stores positions; convert it to a displacement field of ITK or a warp of "
        "FSL",
        name);
  transform t;
  t.field.size = header.grid.size;
  t.field.to_voxel = to_world(header.grid).inverse();
  t.field.mm.resize(header.grid.voxel_count());
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<float> values = read_volume(header, d);
    // ITK's world axes run to the left and to the back, NIfTI's to the right and to the front.
    for (std::uint64_t v = 0; v < values.size(); ++v) t.field.mm[v][d] = d < 2 ? -values[v] : values[v];
  }
  return t;
}

}  // namespace voxherd
