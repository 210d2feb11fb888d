#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/surfaces/surface_label.hpp"

namespace voxherd {

/// A mesh of triangles. A transform or an origin stored in a GIFTI file is not applied, as in FSL: see other_origin.
struct surface {
  std::vector<std::array<float, 3>> points_mm;          ///< finite
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< numbers of points
  std::vector<double> values;                           ///< one per point, finite, 0 for NaN; empty if there are none
  bool has_rounded_values = false;                      ///< of float32 or text: integers above 2^24 may be rounded
  std::string structure;                                ///< in CIFTI's words, "CORTEX_LEFT"; "" if not stated
  /// What the file says of coordinates that are not those of the world; "" if nothing: "its VolGeomC_R, _A, _S are
  /// ...".
  std::string other_origin;
};

/// Whether the file is read as a surface: its name ends in .gii or .gii.gz, or
/// it begins as FreeSurfer's text format
/// (#!ascii) or VTK's legacy format. False if it cannot be opened.
bool is_surface_file(const std::string& path);

/// Reads a surface: GIFTI, FreeSurfer's text, or VTK's legacy text. Values are
/// the first array of one value per point in the same file; of FreeSurfer's
/// text the fourth column, of VTK the first scalars of the points. Throws
/// failure (missing_input, bad_data) with the file, what was found and what was
/// expected.
surface read_surface(const std::string& path);

/// Values per vertex, without the mesh.
struct vertex_values {
  std::string name;
  std::vector<double> values;       ///< finite; 0 for NaN, which metrics have where there is no cortex
  bool has_rounded_values = false;  ///< as in `surface`
};

/// The arrays of a GIFTI file of values: .func.gii, .shape.gii, .label.gii.
struct surface_values {
  std::string structure;              ///< as in `surface`
  std::vector<vertex_values> arrays;  ///< at least one, all of the same length
  std::vector<surface_label> labels;  ///< the file's table, which is often there without use
  bool is_label = false;              ///< whether the values are keys of `labels`
};

/// Throws failure (missing_input, bad_data).
surface_values read_surface_values(const std::string& path);

/// Writes a GIFTI file of values, compressed inside (and as a whole if the name
/// ends in .gz), under a temporary name until complete. Throws failure (disk).
void write_surface_values(const std::string& path, const surface_values& values);

std::vector<float> to_floats(const std::vector<double>& values);

/// The same of a mesh with its values, if it has some.
void write_surface(const std::string& path, const surface& mesh);

}  // namespace voxherd
