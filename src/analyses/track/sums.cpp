#include "src/analyses/track/sums.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/analyses/track/tally_output.hpp"

namespace voxherd {

using track::counted_by;

namespace {

/// Whether the tally's flag was given, if it has one, and what it needs is there.
template <class Tally>
bool is_wanted(const track_inputs& in) {
  const track::tally_output& output = Tally::output;
  return (output.option == nullptr || in.tallies.has<Tally>()) && (output.is_wanted == nullptr || output.is_wanted(in));
}

}  // namespace

std::vector<std::size_t> list_counted_arrays(const track_inputs& in) {
  std::vector<std::size_t> arrays;
  track::tally_list::for_each([&]<class Tally>() {
    if (!is_wanted<Tally>(in)) return;
    for (std::size_t i = 0; i < output_count<Tally>; ++i)
      if (Tally::table[i].by != counted_by::cell) arrays.push_back(track::tally_list::first_array<Tally>() + i);
  });
  return arrays;
}

track_sums::track_sums(const track_inputs& in) : in_(&in), arrays_(list_counted_arrays(in)) {
  for (const std::size_t i : arrays_) {
    const track::count_array& array = track::all_counts::table[i];
    if (array.by == counted_by::place) {
      sums_[i].resize(in.tracts.size());  // the lists are made with the first row
    } else if (array.by != counted_by::word) {
      sums_[i].assign(1, std::vector<std::uint64_t>(size(array)));
    }
  }
}

std::size_t track_sums::size(const track::count_array& array) const {
  const std::size_t regions = in_->labels.size();
  switch (array.by) {
    case counted_by::place:
      return in_->place_voxels.size() * array.width;
    case counted_by::seed:
      return in_->seeds() * array.width;
    case counted_by::column:
      return regions * regions + in_->seeds() * in_->target_names.size();
    default:
      return array.width;
  }
}

void track_sums::add(std::size_t array, std::uint64_t group, std::span<const std::byte> row) {
  const auto of_type = [&]<class T>() {
    return std::span<const T>(reinterpret_cast<const T*>(row.data()), row.size() / sizeof(T));
  };
  if (track::all_counts::table[array].by == counted_by::word) {
    const auto words = of_type.operator()<std::uint32_t>();
    bits_.emplace_back(group, std::vector<std::uint32_t>(words.begin(), words.end()));
  } else if (track::all_counts::table[array].type == element_type::uint32) {
    add_numbers(array, group, of_type.operator()<std::uint32_t>());
  } else {
    add_numbers(array, group, of_type.operator()<std::uint64_t>());
  }
}

template <class T>
void track_sums::add_numbers(std::size_t number, std::uint64_t group, std::span<const T> row) {
  const track::count_array& array = track::all_counts::table[number];
  const track_draw& draw = in_->draw_with_group(group);
  std::vector<std::uint64_t>& sums = sums_[number][array.by == counted_by::place ? draw.tract : 0];
  sums.resize(size(array));
  const std::uint64_t first_seed = draw.plan.first_seed(group - draw.first_group);
  const std::size_t seeds = draw.seeds.size() - first_seed;  // the last group has fewer than there are rows
  if (array.by == counted_by::column) {
    const std::size_t columns = in_->columns(), regions = in_->labels.size(), targets = columns - regions;
    for (std::size_t i = 0; i < row.size() && i / columns < seeds; ++i) {
      const std::uint64_t seed = draw.first_seed + first_seed + i / columns;
      const std::size_t column = i % columns;
      sums[column < regions ? (in_->seed(seed).region - 1) * regions + column
                            : regions * regions + seed * targets + column - regions] += row[i];
    }
    return;
  }
  const std::size_t first = array.by == counted_by::seed ? (draw.first_seed + first_seed) * array.width : 0;
  const std::size_t count = array.by == counted_by::seed ? std::min(row.size(), seeds * array.width) : row.size();
  for (std::size_t i = 0; i < count; ++i) sums[first + i] += row[i];
}

void track_sums::gather(const session& s) {
  for (const std::size_t i : arrays_)
    for (std::vector<std::uint64_t>& sums : sums_[i]) {
      sums.resize(size(track::all_counts::table[i]));
      s.all_reduce(reduction::sum, std::span<std::uint64_t>(sums));
      if (!s.is_root()) sums = {};
    }
}

std::uint64_t track_sums::accepted(std::size_t tract) const {
  const std::vector<std::uint64_t>& of_seeds = values<"accepted">();
  std::uint64_t all = 0;
  for (const track_draw& draw : in_->draws)
    if (draw.tract == tract)
      for (std::size_t i = 0; i < draw.seeds.size(); ++i) all += of_seeds[draw.first_seed + i];
  return all;
}

std::uint64_t track_sums::accepted() const {
  const std::vector<std::uint64_t>& of_seeds = values<"accepted">();
  return std::accumulate(of_seeds.begin(), of_seeds.end(), std::uint64_t{0});
}

double sum_bytes(const track_inputs& in) {
  double bytes = 0;
  for (const std::size_t i : list_counted_arrays(in)) {
    const track::count_array& array = track::all_counts::table[i];
    constexpr double bits_per_byte = 8;
    if (array.by == counted_by::word) bytes += static_cast<double>(in.streamlines()) / bits_per_byte;
    // Those of a single tract are made before the run starts.
    if (array.by == counted_by::place && in.has_tracts())
      bytes += static_cast<double>(in.tracts.size() * in.place_voxels.size() * array.width * sizeof(std::uint64_t));
  }
  return bytes;
}

}  // namespace voxherd
