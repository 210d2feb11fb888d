#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace voxherd {

/// Numbers of a text file, row by row; every row has as many.
struct number_table {
  std::string name;  ///< the path, printable
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;            ///< row after row; NaN and infinity are let through
  std::vector<std::size_t> line_of_row;  ///< counted from 1

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

enum class header_line { none, allowed };

/// Reads numbers separated by white space, commas or both; blank lines, CRLF and a byte order mark are skipped, and
/// where `header` allows it a first line that begins with no number (names of columns). Independent of the locale.
/// Throws failure (missing_input, bad_data) with file, line, what was found and expected.
number_table read_number_table(const std::string& path, header_line header = header_line::none);

}  // namespace voxherd
