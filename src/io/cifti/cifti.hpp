#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Vertices of one surface, or voxels of one structure.
struct brain_part {
  std::string structure;               ///< "CORTEX_LEFT": CIFTI's name without CIFTI_STRUCTURE_
  std::uint64_t surface_vertices = 0;  ///< of the complete surface; 0: voxels
  std::vector<std::uint64_t> places;   ///< numbers of vertices, or linear indices of voxels in the axis's grid

  bool is_surface() const { return surface_vertices > 0; }
  std::uint64_t size() const { return places.size(); }
  bool operator==(const brain_part&) const = default;
};

/// Brain models: the places (greyordinates) that rows or columns stand for, part after part.
struct greyordinates {
  std::vector<brain_part> parts;
  std::optional<image_grid> grid;  ///< of the voxels
  std::uint64_t size() const;
};

struct brain_parcel {
  std::string name;
  std::vector<brain_part> parts;
};

struct parcel_list {
  std::vector<brain_parcel> parcels;
  std::optional<image_grid> grid;
};

struct named_maps {
  std::vector<std::string> names;
  /// Of each map of labels: name by key.
  std::vector<std::map<std::int32_t, std::string>> labels;
};

/// What the rows or the columns of a CIFTI matrix are.
using cifti_axis = std::variant<greyordinates, parcel_list, named_maps>;

std::uint64_t axis_size(const cifti_axis& axis);

/// Whether CIFTI has a structure of this name (without CIFTI_STRUCTURE_).
bool is_cifti_structure(const std::string& name);
/// All names, separated by commas.
std::string list_cifti_structures();
/// The structure of a label of FreeSurfer's table (FreeSurferColorLUT.txt), as in HCP's Atlas_ROIs; "" for others.
std::string freesurfer_structure(std::int64_t label);

/// A CIFTI-2 file read without its values.
struct cifti_file {
  std::string path;
  cifti_axis rows, columns;
  int datatype = 0;
  bool byte_swapped = false;
  double slope = 1, intercept = 0;
  std::uint64_t data_offset = 0;
};

/// Throws failure (missing_input, bad_data).
cifti_file read_cifti(const std::string& path);
/// One column, a map of a .dscalar.nii or .dlabel.nii; double represents every key of a label. Throws failure (disk).
std::vector<double> read_cifti_column(const cifti_file& file, std::uint64_t column);

/// Finds the voxel of one grid at the place of a voxel of another.
class voxel_matcher {
 public:
  voxel_matcher(const image_grid& from, const image_grid& to);
  /// Linear indices. None outside `to`, or further than a tenth of a voxel from a voxel's centre.
  std::optional<std::uint64_t> find(std::uint64_t voxel) const;
  /// In voxels of `to`.
  std::array<double, 3> position(std::uint64_t voxel) const;

 private:
  std::array<std::uint64_t, 3> from_size_, to_size_;
  std::array<double, 12> matrix_{};  ///< row-major, from voxels to voxels
};

/// Writes a matrix of float32 as CIFTI-2 under a temporary name until complete; compressed if the name ends in .gz.
/// Throws failure (disk).
class cifti_writer {
 public:
  cifti_writer(const std::string& path, const cifti_axis& rows, const cifti_axis& columns);
  ~cifti_writer();
  cifti_writer(cifti_writer&&) noexcept;

  /// The next values, row by row.
  void append(std::span<const float> values);
  /// Whether put_row() may be called by several threads, in any order; else it is as append().
  bool takes_any_order() const;
  void put_row(std::uint64_t row, std::span<const float> values);
  /// All values must have been written.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
