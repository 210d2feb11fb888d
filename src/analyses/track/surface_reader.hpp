#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/analyses/track/surface_masks.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

/// Reads surfaces among the masks and seeds, each file once. In one process.
class surface_reader {
 public:
  /// `values_of`: files of --surface-values, by the surface whose values they replace. The grid, that of the seeds'
  /// image, outlives this.
  surface_reader(mesh_space meshes, std::map<std::string, std::string> values_of, const fsl_grid& grid)
      : meshes_(meshes), values_of_(std::move(values_of)), grid_(grid) {}

  /// Reads the surface unless it is known, and returns its number. Triangles without an active vertex are left out.
  /// Throws failure: it cannot be read, or no vertex is in the image.
  std::size_t add(const std::string& path);
  track::surface_use& use(std::size_t surface) { return masks_.all_.uses[surface]; }
  void add_target(std::size_t surface, std::uint32_t target) { targets_of_[surface].push_back(target); }
  /// The vertices of a surface are columns of a matrix.
  void need_columns() { has_columns_ = true; }

  /// The surfaces that were read, without their targets and the triangles of each voxel.
  const surface_masks& masks() const { return masks_; }
  /// After the last one: all of them. The triangles of each voxel are listed if any surface is a mask or has columns.
  /// `one_corner`: a crossed triangle reaches one of its corners in matrices, not all three.
  surface_masks finish(bool one_corner);

 private:
  mesh_space meshes_;
  std::map<std::string, std::string> values_of_;
  const fsl_grid& grid_;
  surface_masks masks_;
  std::vector<std::vector<std::uint32_t>> targets_of_;  ///< of each surface
  bool has_columns_ = false;
};

}  // namespace voxherd
