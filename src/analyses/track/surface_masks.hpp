#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/track/surfaces.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/surfaces/surfaces.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

/// Where a seed or a row or column of a matrix is in a list of masks.
struct list_place {
  std::uint32_t file = 0;              ///< its number in the list
  std::uint32_t place = 0;             ///< number of the vertex in a surface, or of the voxel among those of an image
  std::uint32_t vertex = no_vertex;    ///< among those of all surfaces
  std::array<float, 3> position_mm{};  ///< in the world

  static constexpr auto members() {
    using T = list_place;
    return std::tuple(&T::file, &T::place, &T::vertex, &T::position_mm);
  }

  static constexpr std::uint32_t no_vertex = 0xffffffff;
  bool is_vertex() const { return vertex != no_vertex; }
};

std::array<float, 3> to_float(const vector3& v);

/// Surfaces among the masks and seeds, in voxels of the seeds' image; each file once. What they are masks of is in
/// `uses`.
class surface_masks {
 public:
  struct file {
    std::string path, structure;
    std::uint32_t first_vertex = 0, vertices = 0;
    std::string label_file;  ///< of --surface-values, if its values are labels

    static constexpr auto members() {
      return std::tuple(&file::path, &file::structure, &file::first_vertex, &file::vertices, &file::label_file);
    }
  };

  /// Before surfaces are added: files of --surface-values, by the surface whose values they replace.
  void use_values(std::map<std::string, std::string> values_of) { values_of_ = std::move(values_of); }
  /// Reads the surface unless it is known, and returns its number. A vertex is active if its value is not 0, or if
  /// there are no such values; triangles without an active vertex are left out. Throws failure: it cannot be read, or
  /// no vertex is in the image.
  std::size_t add(const std::string& path, mesh_space meshes, const fsl_grid& grid);
  /// The number of a known surface.
  std::size_t find(const std::string& path) const;

  track::surface_use& use(std::size_t surface) { return uses_[surface]; }
  void add_target(std::size_t surface, std::uint32_t target) { targets_of_[surface].push_back(target); }
  /// The vertices of a surface are columns of a matrix.
  void need_columns() { has_columns_ = true; }
  /// A crossed triangle reaches one of its corners in matrices, not all three. On every rank.
  void set_one_corner(bool one_corner) { one_corner_ = one_corner; }
  /// After the last one: lists the triangles of each voxel, if any surface is a mask or has columns.
  void finish(const fsl_grid& grid);
  /// From the root. Collective.
  void broadcast(const session& s);

  const std::vector<file>& files() const { return files_; }
  bool empty() const { return files_.empty(); }
  std::size_t vertices() const { return active_.size(); }
  bool is_active(std::size_t vertex) const { return active_[vertex] != 0; }
  /// In voxels of the seeds' image.
  vector3 position(std::size_t vertex) const;
  track::surface_input input() const;

 private:
  std::map<std::string, std::string> values_of_;
  std::vector<file> files_;
  std::vector<float> positions_;      ///< x, y, z of each vertex
  std::vector<std::uint8_t> active_;  ///< one per vertex
  std::vector<track::surface_triangle> triangles_;
  std::vector<track::surface_use> uses_;
  std::vector<std::vector<std::uint32_t>> targets_of_;  ///< on the root
  std::vector<std::uint32_t> targets_;
  track::triangle_cells cells_;
  vector3 corner_reach_{};
  bool has_columns_ = false, one_corner_ = false;
};

/// The files of a list with surfaces, for the configuration: name, kind, number of vertices or voxels, structure.
nlohmann::json describe_list(const std::vector<std::string>& paths, const std::vector<std::uint64_t>& sizes,
                             const surface_masks& surfaces);

}  // namespace voxherd
