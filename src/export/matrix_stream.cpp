#include "src/export/matrix_stream.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <future>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "src/export/matrix_models.hpp"
#include "src/export/matrix_places.hpp"

namespace voxherd {

namespace {

/// Entries of consecutive rows.
struct entry_piece {
  std::uint64_t first_row = 0, rows = 0, first_entry = 0;
  std::vector<std::uint32_t> column;
  std::vector<double> length_sum;  ///< empty unless asked for
  std::vector<std::uint32_t> narrow_count;
  std::vector<std::uint64_t> wide_count;

  double count(std::uint64_t i) const {
    return narrow_count.empty() ? static_cast<double>(wide_count[i]) : static_cast<double>(narrow_count[i]);
  }
};

bool needs_counts(matrix_quantity q) { return q != matrix_quantity::length_sum; }
bool needs_lengths(matrix_quantity q) { return q != matrix_quantity::count; }

/// Reads rows in pieces, one ahead of the one in use.
class entry_reader {
 public:
  entry_reader(const result_reader& result, matrix_quantity quantity, std::uint64_t columns)
      : result_(result), quantity_(quantity), columns_(columns) {}

  /// `rows`: increasing numbers.
  template <class Use>
  void read(const std::vector<std::uint32_t>& rows, const Use& use) const {
    std::size_t at = 0;
    std::future<entry_piece> next = start(rows, at);
    while (next.valid()) {
      const entry_piece piece = next.get();
      next = start(rows, at);
      use(piece);
    }
  }

 private:
  static constexpr std::uint64_t max_entries = std::uint64_t{1} << 22;

  /// Consecutive rows from rows[at] on; moves `at` behind them.
  std::future<entry_piece> start(const std::vector<std::uint32_t>& rows, std::size_t& at) const {
    if (at == rows.size()) return {};
    const auto& offsets = result_.point_offsets();
    const std::uint64_t first = rows[at];
    std::uint64_t end = first;
    do ++end, ++at;
    while (at < rows.size() && rows[at] == end && offsets[end + 1] - offsets[first] <= max_entries);
    return start_task("reads a matrix", [this, first, end] { return read_piece(first, end); });
  }

  entry_piece read_piece(std::uint64_t first, std::uint64_t end) const {
    const auto& offsets = result_.point_offsets();
    entry_piece piece{first, end - first, offsets[first], {}, {}, {}, {}};
    const std::uint64_t entries = offsets[end] - offsets[first];
    if (entries == 0) return piece;
    piece.column = result_.read_indices("column", piece.first_entry, entries, columns_);
    if (needs_lengths(quantity_))
      piece.length_sum = result_.read_rows<double>("length_sum", piece.first_entry, entries);
    if (!needs_counts(quantity_)) return piece;
    if (result_.output("count").type == element_type::uint64) {
      piece.wide_count = result_.read_rows<std::uint64_t>("count", piece.first_entry, entries);
    } else {
      piece.narrow_count = result_.read_rows<std::uint32_t>("count", piece.first_entry, entries);
    }
    return piece;
  }

  const result_reader& result_;
  matrix_quantity quantity_;
  std::uint64_t columns_;
};

/// A part of the exported matrix.
template <class Number>
class value_block {
 public:
  explicit value_block(const matrix_form& form) : form_(form), columns_(form.columns) {}

  /// Zeros in rows [first, first + rows).
  void begin(std::uint64_t first, std::uint64_t rows) {
    first_ = first;
    rows_ = rows;
    if (needs_lengths(form_.quantity)) clear(lengths_);
    if (needs_counts(form_.quantity)) clear(counts_);
  }

  void add(const entry_piece& piece, std::span<const std::uint64_t> offsets) {
    for (std::uint64_t r = piece.first_row; r < piece.first_row + piece.rows; ++r) {
      const std::uint32_t row = form_.row_position[r];
      if (row == no_position) continue;
      const bool is_inside = form_.direct && has(row);
      for (std::uint64_t i = offsets[r] - piece.first_entry; i < offsets[r + 1] - piece.first_entry; ++i) {
        const std::uint32_t column = form_.column_position[piece.column[i]];
        if (column == no_position) continue;
        if (is_inside) put(row, column, piece, i);
        if (form_.turned && has(column)) put(column, row, piece, i);
      }
    }
  }

  /// The values of one row.
  void finish(std::uint64_t row, std::span<float> values) const {
    const std::uint64_t at = row * columns_;
    for (std::uint64_t c = 0; c < columns_; ++c) {
      const double value = read(at + c) * form_.factor;
      values[c] = static_cast<float>(form_.log && value != 0 ? std::log1p(value) / std::numbers::ln10 : value);
    }
  }

  std::uint64_t rows() const { return rows_; }

 private:
  void clear(std::vector<Number>& values) const {
    values.resize(rows_ * columns_);
#pragma omp parallel for
    for (std::uint64_t r = 0; r < rows_; ++r)
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(r * columns_), columns_, Number{0});
  }

  bool has(std::uint32_t row) const { return row - first_ < rows_; }  // also false for smaller ones, which wrap

  void put(std::uint32_t row, std::uint32_t column, const entry_piece& piece, std::uint64_t i) {
    const std::uint64_t at = (row - first_) * columns_ + (form_.sums_rows ? 0 : column);
    if (!counts_.empty()) counts_[at] += static_cast<Number>(form_.weight * piece.count(i));
    if (!lengths_.empty()) lengths_[at] += static_cast<Number>(form_.weight * piece.length_sum[i]);
  }

  double read(std::uint64_t at) const {
    if (lengths_.empty()) return static_cast<double>(counts_[at]);
    if (counts_.empty()) return static_cast<double>(lengths_[at]);
    return counts_[at] > 0 ? static_cast<double>(lengths_[at]) / static_cast<double>(counts_[at]) : 0;
  }

  const matrix_form& form_;
  std::uint64_t first_ = 0, rows_ = 0, columns_;
  std::vector<Number> counts_, lengths_;
};

/// The rows of the matrix that contribute to a block.
std::vector<std::uint32_t> find_rows(const matrix_form& form, std::uint64_t first, std::uint64_t rows) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < form.row_position.size(); ++r) {
    const std::uint32_t position = form.row_position[r];
    if (position != no_position && (form.turned || position - first < rows)) found.push_back(r);
  }
  return found;
}

/// Passes the rows of a complete block.
template <class Number>
void pass_rows(const value_block<Number>& block, const matrix_form& form, std::uint64_t first, const row_sink& sink) {
  std::exception_ptr error;
#pragma omp parallel if (sink.any_order)
  {
    std::vector<float> values(form.columns);
#pragma omp for schedule(dynamic)
    for (std::uint64_t r = 0; r < block.rows(); ++r) {
      try {
        block.finish(r, values);
        sink.put(first + r, values);
      } catch (...) {
#pragma omp critical(voxherd_pass_rows)
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

template <class Number>
void pass_blocks(const result_reader& result, const matrix_form& form, std::uint64_t rows_at_once,
                 const row_sink& sink) {
  value_block<Number> block(form);
  const entry_reader entries(result, form.quantity, form.column_position.size());
  for (std::uint64_t first = 0; first < form.rows; first += rows_at_once) {
    const std::uint64_t rows = std::min(rows_at_once, form.rows - first);
    block.begin(first, rows);
    entries.read(find_rows(form, first, rows),
                 [&](const entry_piece& piece) { block.add(piece, result.point_offsets()); });
    pass_rows(block, form, first, sink);
  }
}

}  // namespace

void stream_rows(const result_reader& result, const matrix_form& form, std::uint64_t host_memory_bytes,
                 const row_sink& sink) {
  // Direct entries are in the order of the blocks: larger ones would only need more memory.
  constexpr std::uint64_t bytes_of_direct = std::uint64_t{1} << 29;
  if (!form.turned) host_memory_bytes = std::min(host_memory_bytes, bytes_of_direct);
  const std::uint64_t arrays = form.quantity == matrix_quantity::mean_length ? 2 : 1;
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, form.columns * arrays * sizeof(float));
  pass_blocks<float>(result, form, std::max<std::uint64_t>(1, host_memory_bytes / row_bytes), sink);
}

void sum_entries(const result_reader& result, const matrix_form& form, const row_sink& sink) {
  pass_blocks<double>(result, form, form.rows, sink);
}

void multiply_rows(const result_reader& result, matrix_quantity quantity, std::span<const float> table,
                   std::size_t width, const std::function<void(std::span<float>)>& sink) {
  const auto& offsets = result.point_offsets();
  std::vector<std::uint32_t> rows(offsets.size() - 1);
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<double> sums(width);
  std::vector<float> values(width);
  entry_reader(result, quantity, table.size() / width).read(rows, [&](const entry_piece& piece) {
    for (std::uint64_t r = piece.first_row; r < piece.first_row + piece.rows; ++r) {
      double total = 0;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::uint64_t i = offsets[r] - piece.first_entry; i < offsets[r + 1] - piece.first_entry; ++i) {
        const double value = needs_counts(quantity) ? piece.count(i) : piece.length_sum[i];
        total += value;
        for (std::size_t k = 0; k < width; ++k)
          sums[k] += value * static_cast<double>(table[piece.column[i] * width + k]);
      }
      for (std::size_t k = 0; k < width; ++k) values[k] = static_cast<float>(total > 0 ? sums[k] / total : 0);
      sink(values);
    }
  });
}

matrix_sums sum_matrix(const result_reader& result, bool is_triangle) {
  const auto& offsets = result.point_offsets();
  const std::size_t columns = read_column_voxels(result).size();
  matrix_sums sums{std::vector<double>(offsets.size() - 1), std::vector<double>(columns)};
  if (is_triangle && sums.rows.size() != columns)
    refuse_data(
        "{}: the matrix has {} rows and {} columns, expected as many; is it a complete copy of a voxherd result?",
        result.path(), sums.rows.size(), columns);
  std::vector<std::uint32_t> rows(sums.rows.size());
  std::iota(rows.begin(), rows.end(), 0U);
  entry_reader(result, matrix_quantity::count, columns).read(rows, [&](const entry_piece& piece) {
    for (std::uint64_t r = piece.first_row; r < piece.first_row + piece.rows; ++r)
      for (std::uint64_t i = offsets[r] - piece.first_entry; i < offsets[r + 1] - piece.first_entry; ++i) {
        sums.rows[r] += piece.count(i);
        sums.columns[piece.column[i]] += piece.count(i);
        if (!is_triangle || piece.column[i] == r) continue;
        sums.rows[piece.column[i]] += piece.count(i);
        sums.columns[r] += piece.count(i);
      }
  });
  return sums;
}

}  // namespace voxherd
