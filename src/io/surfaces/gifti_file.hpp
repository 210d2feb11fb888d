#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/outputs.hpp"
#include "src/io/surfaces/surface_label.hpp"

namespace voxherd {

/// A map of points from the space of their coordinates to another space, as stored.
struct gifti_transform {
  std::string from, to;        ///< "NIFTI_XFORM_SCANNER_ANAT", without blanks at the ends
  std::vector<double> matrix;  ///< 4 x 4, row by row; empty if it cannot be read
};

/// An array of a GIFTI file.
struct gifti_array {
  std::string intent;  ///< without NIFTI_INTENT_: "POINTSET"
  element_type type = element_type::float32;
  std::uint64_t rows = 0, columns = 1;
  std::vector<std::byte> values;  ///< row by row, in native byte order
  std::map<std::string, std::string> notes;
  std::vector<gifti_transform> transforms;  ///< of points

  /// All values; double represents every value of the types that are read.
  std::vector<double> numbers() const;
};

/// How the values of an array are stored.
struct gifti_coding {
  enum class text_form { decimal, base64, compressed_base64 } form = text_form::decimal;
  bool is_big_endian = false;
  bool by_column = false;
};

/// A GIFTI file (version 1.0 of the format, 2011).
struct gifti_file {
  std::string name;  ///< for messages
  std::map<std::string, std::string> notes;
  std::vector<surface_label> labels;
  std::vector<gifti_array> arrays;

  /// "3 arrays", "array 2 (NIFTI_INTENT_SHAPE)".
  std::string describe(std::size_t array) const;
};

/// Throws failure (missing_input, bad_data, disk).
gifti_file read_gifti(const std::string& path);

/// Largest length of the text of an array of this size; spaces do not count
/// except between decimal numbers.
std::uint64_t max_text_bytes(const gifti_array& array, const gifti_coding& coding);
/// Sets `array.values` from the text of <Data>. Throws failure (bad_data);
/// `where` begins its message.
void decode_values(gifti_array& array, const gifti_coding& coding, std::string_view text, const std::string& where);
/// The text of <Data>: compressed, base64, little-endian.
std::string encode_values(const gifti_array& array);

/// The note of a file, or of its points, that names its structure.
inline constexpr const char* structure_note = "AnatomicalStructurePrimary";
/// "CortexLeft" of GIFTI is "CORTEX_LEFT" in CIFTI.
std::string cifti_structure(std::string_view gifti_name);
std::string gifti_structure(std::string_view cifti_name);

}  // namespace voxherd
