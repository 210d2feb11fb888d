#include "src/export/result_fibres.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"
#include "core/shell_words.hpp"
#include "core/version.hpp"
#include "src/export/result_volumes.hpp"

namespace voxherd {

namespace {

constexpr auto position = "position";

void require_fibres(const result_reader& r) {
  const auto holds = [](const output_spec& o) {
    return o.name == position && o.layout == output_layout::points && o.type == element_type::float32 &&
           o.shape == std::vector<std::uint64_t>{3};
  };
  if (std::any_of(r.outputs().begin(), r.outputs().end(), holds)) return;
  throw failure(exit_status::bad_data,
                fmt::format("{}: is a result of {} without fibres, expected one of geodesic, or of connect "
                            "--paths; use --to nifti for the maps of any result",
                            r.path(), r.analysis_name()));
}

}  // namespace

result_fibres::result_fibres(const std::string& path) : result_(path) {
  require_fibres(result_);
  require_complete(result_);
  for (const output_spec& o : result_.outputs()) {
    const fibre_array array{o.name, o.type, o.bytes_per_item() / element_bytes(o.type)};
    if (o.layout == output_layout::items) fibre_arrays_.push_back(array);
    if (o.layout == output_layout::points && o.name != position) point_arrays_.push_back(array);
  }
}

std::vector<std::string> result_fibres::history() const {
  const std::string made = result_.provenance().value("command_line", "voxherd " + result_.analysis_name());
  return {fmt::format("{}  (version={})", made, result_.version()),
          fmt::format("voxherd export {}  (version={})", quoted_word(result_.path()), version)};
}

void result_fibres::read_positions(std::uint64_t first_point, std::span<float> mm) const {
  if (mm.empty()) return;
  const auto values = result_.read_points(position, first_point, mm.size() / 3);
  std::copy(values.begin(), values.end(), mm.begin());
}

void result_fibres::read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  if (rows.empty()) return;
  const auto bytes = result_.read_row_bytes(array.name, first, rows.size() / array.row_bytes());
  std::copy(bytes.begin(), bytes.end(), rows.begin());
}

void result_fibres::read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  read_fibre_rows(array, first, rows);
}

}  // namespace voxherd
