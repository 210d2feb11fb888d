#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace voxherd {

/// A rectangular table of numbers read from a text file.
struct number_table {
  std::string name;  ///< the path, printable
  std::size_t rows = 0, columns = 0;
  /// Of a header line, in its order, without quotes; empty without such a line. Not compared with `columns`.
  std::vector<std::string> column_names;
  bool names_are_comment = false;     ///< the line begins with #, and may be any remark
  std::vector<double> values;         ///< row-major; may contain NaN and infinity
  std::vector<std::size_t> row_line;  ///< counted from 1

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

enum class header_line { none, allowed };

/// Reads numbers separated by white space, commas or both. Skips blank lines and comments (lines that begin with #)
/// and, if `header` allows it, reads a first line that does not begin with a number as column names. Independent of the
/// locale. Throws failure (missing_input, bad_data) that names the file, the line, what was found and what was
/// expected.
number_table read_number_table(const std::string& path, header_line header = header_line::none);

}  // namespace voxherd
