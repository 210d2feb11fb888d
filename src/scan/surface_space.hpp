#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "src/io/surfaces/surfaces.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// Coordinates of surfaces, by FSL's names.
enum class mesh_space {
  caret,       ///< millimetres of the world
  freesurfer,  ///< FreeSurfer's, of an image of 256^3 voxels
  first,       ///< voxels of FSL's storage times their size
  vox,         ///< voxels of FSL's storage
};

/// FSL's names.
inline constexpr std::initializer_list<std::pair<const char*, mesh_space>> mesh_space_words{
    {"caret", mesh_space::caret},
    {"freesurfer", mesh_space::freesurfer},
    {"first", mesh_space::first},
    {"vox", mesh_space::vox}};

const char* mesh_space_name(mesh_space meshes);
/// caret for any other name.
mesh_space find_mesh_space(const std::string& name);

/// Whether a mask is a surface. False for an image.
bool is_surface_mask(const std::string& path);
bool has_surfaces(const std::vector<std::string>& paths);

/// A surface in an image.
struct placed_surface {
  std::string path, structure;
  std::vector<float> positions;                         ///< x, y, z of each vertex, in voxels of FSL's storage
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< numbers of vertices
  std::vector<double> values;                           ///< of the file, one per vertex; empty if it has none
  bool has_rounded_values = false;                      ///< as in `surface`

  std::size_t vertices() const { return positions.size() / 3; }
  vector3 position(std::size_t vertex) const;
};

/// Throws failure: it cannot be read, or no vertex is in the image.
placed_surface place_surface(const std::string& path, mesh_space meshes, const fsl_grid& grid);

/// From the coordinates of --mesh-space to mm of the world.
void move_to_world(surface& mesh, mesh_space meshes, const fsl_grid& grid);

/// One per vertex: 1 where a value is not 0. Values that are all zero or nowhere zero choose no vertices, as in FSL.
std::vector<std::uint8_t> find_active(const placed_surface& s);

/// A file of --surface-values for a surface. Throws failure (missing_input, bad_data): the values are those of another
/// surface.
surface_values read_vertex_values(const std::string& path, const std::string& surface, const std::string& structure,
                                  std::size_t vertices);
/// Replaces the surface's own values by the first array of a file of --surface-values, and its structure if it states
/// none. Returns the file. Throws failure (missing_input, bad_data), also if all values are 0.
surface_values replace_values(const std::string& path, placed_surface& s);

/// The different surfaces among some files, in their order: each has one file of --surface-values.
std::vector<std::string> different_surfaces(const std::vector<std::string>& files);

}  // namespace voxherd
