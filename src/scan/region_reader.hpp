#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

/// How surfaces are read as regions.
struct surface_request {
  std::optional<mesh_space> meshes;  ///< nothing: caret
  std::vector<std::string> values;   ///< files, one per surface whose vertices are chosen by other values than its own
};

const option_table<surface_request>& surface_options();

/// A surface with a label per vertex; 0 for none.
struct labelled_surface {
  placed_surface mesh;
  std::vector<std::int32_t> label;
  std::map<std::int32_t, std::string> names;  ///< of the labels, if their file has a table
};

/// The voxels of an image in FSL's storage that triangles with a labelled corner touch: each gets the most frequent
/// label of these triangles' corners, the smaller one in a tie.
std::vector<std::int32_t> label_touched_voxels(const labelled_surface& s, const image_grid& grid);

/// Reads masks and parcellations for an image: images (read_labels()), and surfaces. By one process.
class region_reader {
 public:
  /// `grid`: of the image in whose file's order the labels are. `geometry`: of its header; null if it is not known.
  region_reader(const surface_request& request, const image_grid& grid, const nlohmann::json& geometry);

  /// The files, "" for none, whose different surfaces have the files of --surface-values, in this order. Throws failure
  /// (usage) for another number of them.
  void match_values(const std::vector<std::string>& files, nlohmann::json& provenance);

  /// A surface becomes the voxels that it touches. Adds numbers of vertices to the description of the input. Throws
  /// failure (missing_input, bad_data).
  label_image read(const std::string& path, label_kind kind, nlohmann::json& input);
  /// One file: its labels. Several files: each is a region, or each of its labels, if it is a surface with a .label.gii
  /// file among --surface-values; a voxel of several files belongs to the first one. Adds the files to `provenance`
  /// under the option's name.
  label_image read_parcellation(const std::vector<std::string>& paths, const char* option, nlohmann::json& provenance);

  /// The index coordinates, in the image's file, of a surface's vertices with one of some labels (empty: any), and
  /// their number in the description of the input.
  std::vector<vector3> read_vertices(const std::string& path, const std::vector<std::int32_t>& labels,
                                     const char* labels_option, nlohmann::json& input);

  /// The coordinates of the surfaces that were read; nothing if there were none. Throws failure (usage) if there were
  /// none, but an option about them.
  std::optional<mesh_space> used_meshes() const;

 private:
  bool has_label_file(const std::string& path) const;
  labelled_surface read_labelled(const std::string& path, label_kind kind, nlohmann::json& input);

  surface_request request_;
  fsl_grid grid_;
  std::map<std::string, std::string> values_of_;  ///< by the surface's file
  bool has_surfaces_ = false;
};

/// Names of these labels from a file's table; a label without one is its number. Empty without a table.
std::vector<std::string> names_of(const std::vector<std::int32_t>& labels,
                                  const std::map<std::int32_t, std::string>& table);

/// Throws failure (usage) if a file of an option is a surface.
void refuse_surface(const std::string& path, const char* option);

}  // namespace voxherd
