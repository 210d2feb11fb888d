#include "src/analyses/track/result_samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <optional>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

using track::packed_fibre;

namespace {

/// Rows in a file that threads read without HDF5.
struct plain_rows {
  const input_file& file;
  std::span<const std::uint64_t> offsets;  ///< of th, ph, f of each fibre
  std::size_t fibres, samples;

  std::size_t row_bytes() const { return samples * sizeof(float); }

  /// Rows in pieces that stay in a core's cache between reading and packing.
  sample_check read(const row_range& range, packed_fibre* packed) const {
    constexpr std::size_t piece_bytes = 64 << 10;  // size of a column's piece
    const std::size_t rows = std::max<std::size_t>(1, piece_bytes / row_bytes());
    std::array<std::vector<float>, 3> column;
    sample_check check;
    for (std::size_t done = 0; done < range.count; done += rows) {
      const std::size_t values = std::min(rows, range.count - done) * samples;
      packed_fibre* const to = packed + (range.place + done) * samples * fibres;
      for (std::size_t k = 0; k < fibres; ++k) {
        for (std::size_t c = 0; c < column.size(); ++c) {
          column[c].resize(values);
          file.read(offsets[3 * k + c] + (range.row + done) * row_bytes(), column[c].data(), values * sizeof(float));
        }
        check.add(k, track::pack_fibres(column[0], column[1], column[2], to + k, fibres, 1));
      }
      check.add_overfull(track::count_overfull(to, values, fibres, fibres));
    }
    return check;
  }

  void announce(const row_range& range) const {
    for (const std::uint64_t begin : offsets)
      file.will_need(begin + range.row * row_bytes(), range.count * row_bytes());
  }
};

/// Polar angle, azimuth and volume fraction of a fibre.
constexpr std::array column_names{"th", "ph", "f"};

/// Pieces of at most `max_rows` rows.
std::vector<row_range> cut(std::span<const row_range> ranges, std::uint64_t max_rows) {
  std::vector<row_range> pieces;
  for (const row_range& range : ranges)
    for (std::uint64_t done = 0; done < range.count; done += max_rows)
      pieces.push_back({range.row + done, range.place + done, std::min(max_rows, range.count - done)});
  return pieces;
}

}  // namespace

result_samples::result_samples(const std::string& path) : result_(path) {
  if (!result_.complete()) refuse_data("{}: is an incomplete result; complete it with --resume first", path);
  while (result_.has(fmt::format("th{}", fibres_ + 1))) ++fibres_;
  if (fibres_ == 0) refuse_data("{}: is a result of {}, expected one of ballstick", path, result_.analysis_name());
  const auto& shape = result_.output("th1").shape;
  constexpr std::uint64_t max_samples = 1 << 24;
  if (shape.size() > 1 || (!shape.empty() && shape[0] > max_samples))
    refuse_data("{}: th1 does not have up to {} samples per voxel; is it a complete copy of a voxherd result?", path,
                max_samples);
  samples_ = shape.empty() ? 1 : static_cast<std::int32_t>(shape[0]);
  for (const std::string& name : columns(fibres_))
    if (result_.output(name).shape != shape || result_.output(name).layout != output_layout::items)
      refuse_data("{}: {} and th1 have different shapes; is it a complete copy of a voxherd result?", path, name);
  (void)result_.image_voxels();
  offsets_ = column_offsets();
}

std::vector<std::string> result_samples::columns(std::int32_t fibres) const {
  std::vector<std::string> names;
  for (std::int32_t k = 1; k <= fibres; ++k)
    for (const char* name : column_names) names.push_back(fmt::format("{}{}", name, k));
  return names;
}

std::vector<std::string> result_samples::names(std::int32_t fibres) const {
  std::vector<std::string> all;
  for (const std::string& column : columns(fibres)) all.push_back(result_.path() + ": " + column);
  return all;
}

std::vector<std::uint64_t> result_samples::column_offsets() const {
  std::vector<std::uint64_t> offsets;
  for (const std::string& name : columns(fibres_)) {
    const std::optional<std::uint64_t> offset = result_.rows_offset(name);
    if (!offset || result_.output(name).type != element_type::float32) return {};
    offsets.push_back(*offset);
  }
  return offsets;
}

std::vector<row_range> result_samples::find_rows(const std::vector<std::uint64_t>& wanted) const {
  const std::vector<std::uint64_t>& stored = voxels();
  std::vector<row_range> ranges;
  for (std::uint64_t row = 0, place = 0; row < stored.size() && place < wanted.size();) {
    if (stored[row] != wanted[place]) {
      ++(stored[row] < wanted[place] ? row : place);
      continue;
    }
    const bool goes_on = !ranges.empty() && ranges.back().row + ranges.back().count == row &&
                         ranges.back().place + ranges.back().count == place;
    if (!goes_on) ranges.push_back({row, place, 0});
    ++ranges.back().count;
    ++row, ++place;
  }
  return ranges;
}

void result_samples::read(std::span<const row_range> ranges, std::int32_t fibres, packed_fibre* packed, int threads,
                          sample_check& check) const {
  constexpr std::size_t block_bytes = 512 << 10;  // size of a column's block
  // Checksums are compared while the values are packed, or afterwards where the system refuses a thread. The values are
  // not used if one differs.
  std::vector<std::future<void>> checking = start_helpers(1, [this] { result_.check_batches(); });
  const input_file file(result_.path());
  const auto wanted = static_cast<std::size_t>(fibres);
  const plain_rows rows{file, std::span(offsets_).first(3 * wanted), wanted, static_cast<std::size_t>(samples_)};
  const std::vector<row_range> blocks = cut(ranges, std::max<std::size_t>(1, block_bytes / rows.row_bytes()));
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (const row_range& block : blocks) {
    try {
      rows.announce(block);
      const sample_check own = rows.read(block, packed);
#pragma omp critical(voxherd_check_samples)
      check.add(own);
    } catch (...) {
#pragma omp critical(voxherd_read_samples)
      error = std::current_exception();
    }
  }
  for (std::future<void>& check_batches : checking) check_batches.get();
  result_.check_batches();
  if (error) std::rethrow_exception(error);
}

void result_samples::read(packed_fibre* packed, int threads, sample_check& check) const {
  if (!has_plain_rows()) return read_with_hdf5(packed, threads, check);
  const row_range all{0, 0, voxels().size()};
  read(std::span(&all, 1), fibres_, packed, threads, check);
}

/// For files that were repacked: some rows are packed while this thread reads the next ones.
void result_samples::read_with_hdf5(packed_fibre* packed, int threads, sample_check& check) const {
  constexpr std::uint64_t rows_at_once = 16384;
  result_.check_batches();
  const auto stride = static_cast<std::size_t>(fibres_);
  const std::size_t row = static_cast<std::size_t>(samples_) * stride;
  std::future<void> packing;
  for (std::uint64_t first = 0; first < voxels().size(); first += rows_at_once) {
    auto values = read_columns(first, std::min<std::uint64_t>(rows_at_once, voxels().size() - first));
    if (packing.valid()) packing.get();
    auto pack = [&check, own = std::move(values), to = packed + first * row, stride, threads] {
      for (std::size_t k = 0; k < stride; ++k)
        check.add(k, track::pack_fibres(own[3 * k], own[3 * k + 1], own[3 * k + 2], to + k, stride, threads));
      check.add_overfull(track::count_overfull(to, own[0].size(), stride, stride));
    };
    packing =
        threads > 1 ? start_task("packs samples", std::move(pack)) : std::async(std::launch::deferred, std::move(pack));
  }
  if (packing.valid()) packing.get();
}

std::vector<std::vector<float>> result_samples::read_columns(std::uint64_t first, std::uint64_t rows) const {
  std::vector<std::vector<float>> values;
  for (const std::string& name : columns(fibres_)) values.push_back(result_.read_rows<float>(name, first, rows));
  return values;
}

}  // namespace voxherd
