#include "src/scan/warps/transform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "core/text.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

/// "[FILE,1]"
bool is_bracketed(const std::string& name) { return name.starts_with("[") && name.ends_with("]"); }

transform read_flirt_matrix(const std::string& path) {
  const number_table t = read_number_table(path);
  const auto refuse = [&](const std::string& found) {
    refuse_data("{}: {}, expected a matrix of FLIRT (4 x 4 numbers, the last row 0 0 0 1)", t.name, found);
  };
  if (t.rows != 4 || t.columns != 4) refuse(fmt::format("has {} x {} numbers", t.rows, t.columns));
  for (std::size_t k = 0; k < 4; ++k)
    if (t.at(3, k) != (k == 3 ? 1 : 0)) refuse(fmt::format("has {} in row 4 column {}", t.at(3, k), k + 1));
  transform flirt;
  flirt.frame = mm_frame::fsl;
  flirt.is_inverse = true;
  voxel_map& map = flirt.before;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t k = 0; k < 3; ++k) map.axes[3 * d + k] = t.at(d, k);
    map.origin[d] = t.at(d, 3);
  }
  const double size = determinant(map.axes);
  if (!std::isfinite(size + map.origin[0] + map.origin[1] + map.origin[2]) || std::abs(size) < 1e-6)
    refuse(fmt::format("its determinant is {:.3g}", size));
  return flirt;
}

transform read_field(const std::string& path) {
  const nifti_header header = read_nifti_header(path, 5);
  transform t = header.series > 1 ? read_itk_field(header) : read_fsl_field(header);
  check_displacements(t.field, path);
  return t;
}

/// Throws failure (usage) for files that other programs convert.
void refuse_freesurfer(const std::string& path) {
  if (path.ends_with(".lta") || path.ends_with(".m3z"))
    refuse_usage("{}: is a transform of FreeSurfer; lta_convert and mri_warp_convert write FSL's or ITK's", path);
}

/// As a map from the new image to the old one.
transform forward(transform t) {
  if (t.is_inverse) t.before = t.before.inverse();
  t.is_inverse = false;
  return t;
}

/// The first transform, then the second.
transform join(const transform& first, transform second, const std::string& names) {
  if (first.frame == mm_frame::fsl || second.frame == mm_frame::fsl)
    refuse_usage("{}: transforms of FSL cannot be joined here; convertwarp writes one file", names);
  if (first.has_field() && second.has_field())
    refuse_usage(
        "{}: two displacement fields cannot be joined here; antsApplyTransforms -o [NAME.nii.gz,1] writes one file",
        names);
  transform both = first;
  if (second.has_field()) {
    both.before = product(both.before, second.before);  // that of a composite
    both.field = std::move(second.field);
    both.after = second.after;
  } else {
    voxel_map& last = first.has_field() ? both.after : both.before;
    last = product(last, second.before);
  }
  return both;
}

/// All in this order.
transform join_all(std::vector<transform> parts, const std::string& names) {
  transform all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i)
    all = join(forward(std::move(all)), forward(std::move(parts[i])), names);
  return all;
}

transform read_file(const std::string& path) {
  if (is_nifti_name(path)) return read_field(path);
  if (is_itk_composite(path)) return join_all(read_itk_composite(path), path);
  refuse_freesurfer(path);
  const input_file file(path);
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), std::uint64_t{1} << 16)), '\0');
  file.read(0, begin.data(), begin.size());
  if (begin.find('\0') != std::string::npos && !is_utf16(begin)) return read_itk_matlab(begin, file.name());
  const std::string text = read_text_file(path, "a matrix of FLIRT or a text of ITK");
  return text.starts_with("#Insight Transform File") ? read_itk_text(text, file.name()) : read_flirt_matrix(path);
}

}  // namespace

std::string transform_file(const std::string& name) {
  std::string file = is_bracketed(name) ? name.substr(1, name.rfind(',') - 1) : name;
  const std::string image = find_image(file);
  return image.empty() ? file : image;
}

bool is_warp(const std::string& name) {
  const std::string file = transform_file(name);
  return is_nifti_name(file) || (is_itk_composite(file) && has_itk_field(file));
}

transform read_transform(const std::string& name) {
  const std::string path = transform_file(name);
  transform t = read_file(path);
  if (!is_bracketed(name)) return t;
  const bool inverts = name.ends_with(",1]");
  if (!inverts && !name.ends_with(",0]"))
    refuse_usage("{}: expected [FILE,1], the inverse of an affine transform", name);
  if (inverts && t.has_field())
    refuse_usage("{}: a displacement field is not inverted here; give that of the other direction", name);
  if (inverts) t.is_inverse = !t.is_inverse;
  return t;
}

transform read_transforms(const std::vector<std::string>& names) {
  transform all = read_transform(names.front());
  for (std::size_t i = 1; i < names.size(); ++i)
    all = join(forward(std::move(all)), forward(read_transform(names[i])),
               fmt::format("{} and {}", names[i - 1], names[i]));
  return all;
}

void check_displacements(const mm_field& field, const std::string& name) {
  constexpr float largest_mm = 1e5f;
  std::uint64_t bad = 0;
  for (const auto& d : field.mm)
    bad += std::all_of(d.begin(), d.end(), [](float mm) { return std::abs(mm) <= largest_mm; }) ? 0 : 1;
  if (bad > 0)
    refuse_data("{}: {} without a displacement in mm (NaN, infinity or above {} mm)", name, counted(bad, "voxel"),
                largest_mm);
}

}  // namespace voxherd
