#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/track/surfaces.hpp"
#include "src/io/surfaces/surfaces.hpp"
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

/// Surfaces among the masks and seeds, in voxels of the seeds' image; each file once. A surface_reader makes them.
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

  /// The number of a known surface.
  std::size_t find(const std::string& path) const;
  const std::vector<file>& files() const { return all_.files; }
  bool empty() const { return all_.files.empty(); }
  std::size_t vertices() const { return all_.active.size(); }
  /// A vertex is active if its value is not 0, or if the surface has no values.
  bool is_active(std::size_t vertex) const { return all_.active[vertex] != 0; }
  /// In voxels of the seeds' image.
  vector3 position(std::size_t vertex) const;
  track::surface_input input() const;

  static constexpr auto members() { return std::tuple(&surface_masks::all_); }

 private:
  friend class surface_reader;
  static constexpr double corner_reach_mm = 0.001;  ///< FSL's
  struct tables {
    std::vector<file> files;
    std::vector<float> positions;                    ///< x, y, z of each vertex
    std::vector<std::uint8_t> active;                ///< one per vertex
    std::vector<track::surface_triangle> triangles;  ///< only those with an active vertex
    std::vector<track::surface_use> uses;            ///< what each surface is a mask of
    std::vector<std::uint32_t> targets;
    std::vector<std::uint64_t> cubes;  ///< this and the next two: track::triangle_cells
    std::vector<std::uint32_t> cell_begin;
    std::vector<track::near_triangle> cell_triangles;
    vector3 corner_reach{};   ///< in voxels
    bool one_corner = false;  ///< a crossed triangle reaches one of its corners in matrices, not all three

    static constexpr auto members() {
      using T = tables;
      return std::tuple(&T::files, &T::positions, &T::active, &T::triangles, &T::uses, &T::targets, &T::cubes,
                        &T::cell_begin, &T::cell_triangles, &T::corner_reach, &T::one_corner);
    }
  };

  tables all_;
};

/// The files of a list with surfaces, for the configuration: name, kind, number of vertices or voxels, structure.
nlohmann::json describe_list(const std::vector<std::string>& paths, const std::vector<std::uint64_t>& sizes,
                             const surface_masks& surfaces);

}  // namespace voxherd
