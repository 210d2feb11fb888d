#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "mpi/result/hdf5_input.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

std::string path_of(std::size_t number, const char* name) { return fmt::format("TransformGroup/{}/{}", number, name); }

bool is_field(const std::string& kind) { return kind.find("DisplacementFieldTransform_") != kind.npos; }

/// The name of parameters, which ITK misspelt before its version 5.
std::string find_parameters(const hdf5_input& file, std::size_t number, const char* name, const char* misspelt) {
  const std::string usual = path_of(number, name);
  return file.has(usual) ? usual : path_of(number, misspelt);
}

/// `fixed`: size, origin, spacing and the axes as columns of a matrix, in ITK's world.
transform make_field(const std::vector<double>& fixed, const std::vector<float>& values, const std::string& name) {
  if (fixed.size() != 18)
    refuse_data("{}: its displacement field has {} fixed parameters, expected 18", name, fixed.size());
  transform t;
  voxel_map to_mm;
  std::uint64_t count = 1;
  const auto sign = [](std::size_t d) { return d < 2 ? -1.0 : 1.0; };
  for (std::size_t r = 0; r < 3; ++r) {
    constexpr double max_size = 1 << 20;
    if (!(fixed[r] >= 1 && fixed[r] <= max_size))
      refuse_data("{}: its displacement field has size {} along axis {}", name, fixed[r], r + 1);
    t.field.size[r] = static_cast<std::uint64_t>(fixed[r]);
    count *= t.field.size[r];
    to_mm.origin[r] = sign(r) * fixed[3 + r];
    for (std::size_t c = 0; c < 3; ++c) to_mm.axes[3 * r + c] = sign(r) * fixed[9 + 3 * r + c] * fixed[6 + c];
  }
  if (values.size() != 3 * count)
    refuse_data("{}: its displacement field has {} parameters, expected 3 for {} voxels", name, values.size(), count);
  const double volume = determinant(to_mm.axes);
  if (!std::isfinite(volume) || std::abs(volume) < 1e-9)
    refuse_data("{}: its displacement field has axes that are not those of a grid", name);
  t.field.to_voxel = to_mm.inverse();
  t.field.mm.resize(count);
  for (std::size_t v = 0; v < count; ++v) t.field.mm[v] = {-values[3 * v], -values[3 * v + 1], values[3 * v + 2]};
  check_displacements(t.field, name);
  return t;
}

transform read_part(const hdf5_input& file, std::size_t number, const std::string& kind, const std::string& name) {
  const std::string values = find_parameters(file, number, "TransformParameters", "TranformParameters");
  const std::vector<double> fixed =
      file.doubles(find_parameters(file, number, "TransformFixedParameters", "TranformFixedParameters"));
  if (is_field(kind)) return make_field(fixed, file.floats(values), name);
  if (kind.find("SplineTransform") != kind.npos || kind.find("VelocityField") != kind.npos)
    refuse_usage("{}: has a {}; antsApplyTransforms -o [NAME.nii.gz,1] writes a displacement field", name, kind);
  return make_itk_affine({kind, file.doubles(values), fixed}, name);
}

/// The kinds of a composite's parts, which follow its own.
std::vector<std::string> list_kinds(const hdf5_input& file, const std::string& name) {
  std::vector<std::string> kinds;
  for (std::size_t i = 0; file.has(path_of(i, "TransformType")); ++i)
    kinds.push_back(file.text(path_of(i, "TransformType")));
  if (kinds.empty()) refuse_data("{}: has no /TransformGroup/0, expected a transform of ITK", name);
  return kinds;
}

}  // namespace

bool is_itk_composite(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

bool has_itk_field(const std::string& path) {
  const std::string name = input_file(path).name();
  const std::vector<std::string> kinds = list_kinds(hdf5_input(path), name);
  return std::any_of(kinds.begin(), kinds.end(), is_field);
}

std::vector<transform> read_itk_composite(const std::string& path) {
  const std::string name = input_file(path).name();
  const hdf5_input file(path);
  const std::vector<std::string> kinds = list_kinds(file, name);
  std::vector<transform> parts;
  // ITK applies the part that was added last first.
  for (std::size_t i = kinds.size(); i-- > 0;)
    if (!kinds[i].starts_with("CompositeTransform_")) parts.push_back(read_part(file, i, kinds[i], name));
  if (parts.empty()) refuse_data("{}: is a composite transform without parts", name);
  return parts;
}

}  // namespace voxherd
