#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/export/cifti_options.hpp"

namespace voxherd {

/// How the entries of a sparse matrix become values of an exported one.
struct matrix_form {
  std::uint64_t rows = 0, columns = 0;  ///< exported
  /// Positions of the matrix's rows and columns, or no_position.
  std::vector<std::uint32_t> row_position, column_position;
  bool direct = true;      ///< an entry counts at (its row's position, its column's position)
  bool turned = false;     ///< and at (its column's position, its row's position)
  double weight = 1;       ///< of each of them
  bool sums_rows = false;  ///< the only column is the sum of all
  matrix_quantity quantity = matrix_quantity::count;
  double factor = 1;
  bool log = false;
};

/// Receives exported rows.
struct row_sink {
  std::function<void(std::uint64_t row, std::span<const float> values)> put;
  bool any_order = false;  ///< may be called by several threads, in any order; else from the first row to the last
};

/// Makes a large matrix: as many rows at a time as fit in `host_memory_bytes`. Direct entries are read once; for turned
/// ones the matrix is read once per such block of rows.
void stream_rows(const result_reader& result, const matrix_form& form, std::uint64_t host_memory_bytes,
                 const row_sink& sink);

/// Makes a small matrix, with sums in double.
void sum_entries(const result_reader& result, const matrix_form& form, const row_sink& sink);

/// Passes the rows of the matrix, each divided by its sum, times a table with one row of `width` numbers per column.
void multiply_rows(const result_reader& result, matrix_quantity quantity, std::span<const float> table,
                   std::size_t width, const std::function<void(std::span<float>)>& sink);

struct matrix_sums {
  std::vector<double> rows, columns;
};

/// Sums of the counts of each row and column. `is_triangle`: of a symmetric matrix only one triangle is stored, and
/// both sums are those of the complete one.
matrix_sums sum_matrix(const result_reader& result, bool is_triangle);

}  // namespace voxherd
