#include "src/export/place_structures.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

constexpr const char* unknown_structure = "OTHER";

void check_structures(const std::vector<std::string>& structures, std::size_t files) {
  if (!structures.empty() && structures.size() != files)
    refuse_usage("--structures: found {}, expected one for each of {} of seeds", counted(structures.size(), "name"),
                 counted(files, "file"));
  for (const std::string& name : structures)
    if (name != "-" && !is_cifti_structure(name))
      refuse_usage("--structures: \"{}\" is not one of {}", name, list_cifti_structures());
}

/// QuNex and HCP name their masks CIFTI_STRUCTURE_ACCUMBENS_LEFT.nii.gz.
std::string structure_in_name(const std::string& path) {
  const std::string prefix = "CIFTI_STRUCTURE_", name = std::filesystem::path(path).filename().string();
  const std::size_t at = name.find(prefix);
  if (at == std::string::npos) return "";
  const std::string rest = name.substr(at + prefix.size());
  const std::string found = rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"));
  return is_cifti_structure(found) ? found : "";
}

/// What a file says of its places; "" if nothing.
std::string stated_structure(const place_file& file) {
  if (file.vertices == 0) return structure_in_name(file.path);
  if (is_cifti_structure(file.structure)) return file.structure;
  refuse_data(
      "{}: does not state its structure (AnatomicalStructurePrimary); add --structures, for example CORTEX_LEFT",
      file.path);
}

}  // namespace

structure_finder::structure_finder(const matrix_places& places, const std::vector<std::string>& given)
    : places_(places), labels_(places.files.size()) {
  check_structures(given, places.files.size());
  for (std::size_t f = 0; f < places.files.size(); ++f) {
    const place_file& file = places.files[f];
    of_file_.push_back(given.empty() || given[f] == "-" ? stated_structure(file) : given[f]);
    if (of_file_[f].empty() && file.vertices == 0) read_labels_of(f);
  }
}

std::string structure_finder::find(std::size_t i) const {
  const std::uint32_t f = places_.file[i];
  if (!labels_[f].empty()) return freesurfer_structure(std::lround(labels_[f][places_.place[i]]));
  return of_file_[f].empty() ? unknown_structure : of_file_[f];
}

/// Keeps the labels of an image only if all its places have one of FreeSurfer's.
void structure_finder::read_labels_of(std::size_t f) {
  const place_file& file = places_.files[f];
  if (!file.changed.empty()) {
    spdlog::warn("{}; its structure is {} (see --structures)", file.changed, unknown_structure);
    return;
  }
  nifti_header header = read_nifti_header(file.path);
  if (!bring_from_same_place(header, places_.grid, nlohmann::json())) return;
  std::vector<float> values = read_volume(header);
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_.file[i] == f && freesurfer_structure(std::lround(values[places_.place[i]])).empty()) return;
  labels_[f] = std::move(values);
}

void check_vertices(const matrix_places& places, const structure_finder& structures, const brain_part& part,
                    const std::string& path) {
  if (!part.is_surface()) return;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const place_file& file = places.files[places.file[i]];
    if (file.vertices == 0 || file.vertices == part.surface_vertices || structures.find(i) != part.structure) continue;
    refuse_data("{}: {} has {} vertices, but {} has {}; use a surface of the same mesh", path, part.structure,
                part.surface_vertices, file.path, file.vertices);
  }
}

std::vector<std::uint32_t> find_positions(const matrix_places& places, const structure_finder& structures,
                                          const std::map<grey_place, std::uint32_t>& positions,
                                          const std::optional<image_grid>& grid) {
  std::optional<voxel_matcher> matcher;
  if (grid) matcher.emplace(places.grid, *grid);
  std::vector<std::uint32_t> found(places.size(), no_position);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_surface = places.files[places.file[i]].vertices > 0;
    grey_place p{is_surface ? structures.find(i) : "", places.place[i]};
    if (!is_surface) {
      const auto voxel = matcher ? matcher->find(p.place) : std::nullopt;
      if (!voxel) continue;
      p.place = *voxel;
    }
    if (const auto at = positions.find(p); at != positions.end()) found[i] = at->second;
  }
  return found;
}

void report_outside(const std::vector<std::uint32_t>& positions, const std::string& path, const char* what) {
  const auto outside = static_cast<std::uint64_t>(std::count(positions.begin(), positions.end(), no_position));
  if (outside == positions.size())
    refuse_data("{}: none of {} is among its {}; is it of another space?", path, counted(positions.size(), "seed"),
                what);
  if (outside > 0)
    spdlog::warn("{}: {} of {} are not among its {} and are left out", path, outside, counted(positions.size(), "seed"),
                 what);
}

}  // namespace voxherd
