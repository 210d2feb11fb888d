#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "src/io/output_file.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

namespace {

static_assert(std::endian::native == std::endian::little, "files of paths are written in native byte order");

/// The history in MRtrix's form: one line per command, with its version.
std::string history_lines(const fibre_source& source) {
  std::string text;
  for (const std::string& command : source.history()) text += fmt::format("command_history: {}\n", plain_name(command));
  return text;
}

/// The text header before the positions. MRtrix compares timestamps to decide whether a file of values (.tsf) belongs
/// to a track file.
std::string make_tck_header(const fibre_source& source) {
  constexpr std::size_t offset_digits = 10, alignment = sizeof(float);
  const double seconds = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string text = fmt::format("mrtrix tracks\ndatatype: Float32LE\ntimestamp: {:.10f}\ncount: {}\ntotal_count: {}\n",
                                 seconds, source.fibres(), source.fibres());
  text += history_lines(source);
  const std::string key = "file: . ", end = "\nEND\n";
  std::size_t offset = text.size() + key.size() + offset_digits + end.size();
  offset = (offset + alignment - 1) / alignment * alignment;
  text += key + std::to_string(offset) + end;
  text.resize(offset, '\0');
  return text;
}

void require_finite(std::span<const float> mm, const fibre_piece& piece) {
  for (std::size_t i = 0; i < mm.size(); ++i) {
    if (!std::isfinite(mm[i]))
      refuse_data("point {} has the coordinate {}, expected a finite number: NaN ends a path in TCK; use --to trx",
                  piece.first_point + i / 3, mm[i]);
  }
}

}  // namespace

void write_tck(const fibre_source& source, const std::string& path) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  output_file file(path, output_file::coding::plain);
  const std::string header = make_tck_header(source);
  file.write(header.data(), header.size());
  const auto offsets = source.offsets();
  std::vector<float> mm, written;
  for_each_piece(source, [&](const fibre_piece& piece) {
    mm.resize(3 * piece.points);
    source.read_positions(piece.first_point, mm);
    require_finite(mm, piece);
    written.clear();
    for (std::uint64_t f = piece.first_fibre; f < piece.first_fibre + piece.fibres; ++f) {
      const auto from = mm.begin() + static_cast<std::ptrdiff_t>(3 * (offsets[f] - piece.first_point));
      const auto to = mm.begin() + static_cast<std::ptrdiff_t>(3 * (offsets[f + 1] - piece.first_point));
      written.insert(written.end(), from, to);
      written.insert(written.end(), 3, nan);
    }
    file.write(written.data(), written.size() * sizeof(float));
  });
  const float last[3] = {infinity, infinity, infinity};
  file.write(last, sizeof last);
  file.finish();
}

}  // namespace voxherd
