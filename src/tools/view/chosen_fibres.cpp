#include "src/tools/view/chosen_fibres.hpp"

#include <algorithm>

namespace voxherd::view {

namespace {

constexpr auto position = "position";

/// Rows [first, first + count) of the file.
void read_rows(const result_reader& r, const fibre_array& array, std::uint64_t first, std::uint64_t count,
               std::span<std::byte>& to) {
  const std::vector<std::byte> bytes = r.read_row_bytes(array.name, first, count);
  std::copy(bytes.begin(), bytes.end(), to.begin());
  to = to.subspan(bytes.size());
}

}  // namespace

chosen_fibres::chosen_fibres(const result_reader& r, std::vector<std::uint64_t> items)
    : result_(r), items_(std::move(items)) {
  for (const std::uint64_t item : items_)
    offsets_.push_back(offsets_.back() + r.point_offsets()[item + 1] - r.point_offsets()[item]);
  for (const output_spec& o : r.outputs()) {
    const fibre_array array{o.name, o.type, o.bytes_per_item() / element_bytes(o.type)};
    if (o.layout == output_layout::items) fibre_arrays_.push_back(array);
    if (o.layout == output_layout::points && o.name != position) point_arrays_.push_back(array);
  }
}

void chosen_fibres::read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  for (std::uint64_t end = first; !rows.empty(); first = end) {
    const std::uint64_t last = first + rows.size() / array.row_bytes();
    for (++end; end < last && items_[end] == items_[end - 1] + 1;) ++end;
    read_rows(result_, array, items_[first], end - first, rows);
  }
}

/// Neighbours in the file are read together.
void chosen_fibres::read_points(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  const auto& stored = result_.point_offsets();
  auto fibre =
      static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), first) - offsets_.begin()) - 1;
  while (!rows.empty()) {
    const std::uint64_t last = first + rows.size() / array.row_bytes();
    std::size_t end = fibre + 1;
    while (end < items_.size() && offsets_[end] < last && items_[end] == items_[end - 1] + 1) ++end;
    const std::uint64_t count = std::min(last, offsets_[end]) - first;
    read_rows(result_, array, stored[items_[fibre]] + first - offsets_[fibre], count, rows);
    first += count;
    fibre = end;
  }
}

void chosen_fibres::read_positions(std::uint64_t first_point, std::span<float> mm) const {
  read_points({position, element_type::float32, 3}, first_point, std::as_writable_bytes(mm));
}

void chosen_fibres::read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  read_points(array, first, rows);
}

}  // namespace voxherd::view
