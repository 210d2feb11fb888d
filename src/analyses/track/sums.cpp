#include "src/analyses/track/sums.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/text.hpp"
#include "src/analyses/track/matrix.hpp"
#include "src/analyses/track/met_masks.hpp"
#include "src/analyses/track/tally_output.hpp"

namespace voxherd {

namespace {

using track::counted_by;

/// Streamlines from a region that is a surface to another one.
std::uint64_t count_between_surfaces(const track_sums& sums, const track_inputs& in) {
  const std::size_t regions = in.labels.size();
  std::vector<bool> is_surface(regions);
  for (std::size_t i = 0; i < in.seed_places.size(); ++i)
    if (in.is_vertex(i)) is_surface[in.seed(i).region - 1] = true;
  std::uint64_t all = 0;
  for (std::size_t from = 0; from < regions; ++from)
    for (std::size_t to = 0; to < regions; ++to)
      if (from != to && is_surface[from] && is_surface[to]) all += sums.of_regions<"hits">(from, to);
  return all;
}

/// `where`: "" or the tract's name with a colon.
void warn_of_few(const std::string& where, std::uint64_t accepted, const track_draw& draw, const track_inputs& in,
                 int threads) {
  constexpr std::uint64_t few = 100;
  if (accepted == 0) {
    draw_masks masks(in);
    spdlog::warn("{}no streamline was accepted{}", where,
                 describe_met_masks(masks.view(draw), draw.include_names, threads));
  } else if (accepted < few) {
    spdlog::warn("{}only {} accepted: a density of n is known to about the square root of n; draw more per seed voxel",
                 where, counted(accepted, "streamline"));
  }
}

/// Where the seeds are, if some are vertices, which maps do not show; labels of the regions.
void add_input_constants(const track_inputs& in, std::vector<constant>& all) {
  add_places(in.seed_places, "", "seeds", all);
  if (in.labels.empty()) return;
  all.push_back({"labels",
                 {in.labels.size()},
                 {in.labels.begin(), in.labels.end()},
                 "1",
                 "label of each row and column",
                 "connectome"});
}

/// The order of the groups of constants in a result.
std::size_t group_order(const constant& c) {
  constexpr std::array groups{"tracts", "streamlines", "seeds", "connectome"};
  return static_cast<std::size_t>(std::find(groups.begin(), groups.end(), c.group) - groups.begin());
}

}  // namespace

std::vector<std::size_t> list_counted_arrays(const track_inputs& in) {
  std::vector<std::size_t> arrays;
  track::tally_list::for_each([&]<class Tally>() {
    if (!is_counted<Tally>(in)) return;
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

void log_sums(const track_sums& sums, const track_inputs& in, const device& d) {
  if (in.streamlines() == 0 && !in.has_tracts()) return spdlog::warn("there are no seeds: no streamline was started");
  for (std::size_t t = 0; t < in.tracts.size(); ++t) {
    const track_tract& tract = in.tracts[t];
    const std::uint64_t accepted = sums.accepted(t);
    const std::string where = tract.name.empty() ? "" : tract.name + ": ";
    const std::string steps = tract.name.empty() ? fmt::format("; {:.1f} steps on average",
                                                               share(sums.values<"walked">().front(), tract.started))
                                                 : "";
    spdlog::info("{}{} of {} accepted ({:.3g} %){}", where, accepted, counted(tract.started, "streamline"),
                 100 * share(accepted, tract.started), steps);
    const auto draw = std::find_if(in.draws.begin(), in.draws.end(), [&](const auto& one) { return one.tract == t; });
    warn_of_few(where, accepted, *draw, in, d.threads);
  }
  if (!in.labels.empty()) warn_of_separate_surfaces(in, count_between_surfaces(sums, in));
}

std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels) {
  std::vector<known_output> maps;
  for (std::size_t t = 0; t < in.tracts.size(); ++t) {
    const tract_maps of_tract(sums, in, t, voxels, maps);
    track::tally_list::for_each([&]<class Tally>() {
      if (Tally::output.add_maps != nullptr && is_counted<Tally>(in)) Tally::output.add_maps(of_tract);
    });
  }
  return maps;
}

known_size track_size(const track_inputs& in) {
  std::size_t bytes = 0;
  track::tally_list::for_each([&]<class Tally>() {
    if (Tally::output.map_bytes != nullptr && is_counted<Tally>(in)) bytes += Tally::output.map_bytes(in);
  });
  constexpr double largest = 12;  // a direction
  return size_of_maps(in.space.grid, in.place_voxels.size(), static_cast<double>(in.tracts.size() * bytes), largest);
}

std::vector<constant> make_track_constants(const track_sums& sums, const track_inputs& in) {
  std::vector<constant> all;
  if (in.has_tracts()) {
    constant started{"started", {in.tracts.size()}, {}, "1", "streamlines of each tract, in the order of the maps",
                     "tracts"};
    for (const track_tract& tract : in.tracts) started.values.push_back(static_cast<double>(tract.started));
    all.push_back(std::move(started));
  } else {
    all.push_back(streamline_number("started", in.streamlines(), "streamlines"));
  }
  add_input_constants(in, all);
  track::tally_list::for_each([&]<class Tally>() {
    if (Tally::output.add_constants != nullptr && is_counted<Tally>(in)) Tally::output.add_constants(sums, in, all);
  });
  all.push_back(streamline_number("mask_voxels", in.mask_voxels,
                                  "voxels in which streamlines run; maps have their neighbours, too"));
  std::stable_sort(all.begin(), all.end(),
                   [](const constant& a, const constant& b) { return group_order(a) < group_order(b); });
  return all;
}

std::vector<output_spec> track_outputs() {
  const auto map = [](const char* name, const char* meaning) {
    return output_spec{name, element_type::uint32, {}, output_layout::volume, "1", meaning};
  };
  return {map("density", density_meaning), map("accepted", accepted_meaning)};
}

std::size_t count_bytes(const track_inputs& in) {
  const auto has_many = [](const track_tract& tract) { return tract.started > 0xffffffff; };
  return std::any_of(in.tracts.begin(), in.tracts.end(), has_many) ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
}

constant streamline_number(const char* name, std::uint64_t value, const char* meaning) {
  return {name, {1}, {static_cast<double>(value)}, "1", meaning, "streamlines"};
}

std::vector<std::uint64_t> tract_maps::add_in_places(
    const std::function<std::uint64_t(std::uint64_t seed)>& number) const {
  std::vector<std::uint64_t> sums(in_->place_voxels.size());
  for (const track_draw& draw : in_->draws) {
    if (draw.tract != tract_) continue;
    for (std::size_t i = 0; i < draw.seeds.size(); ++i) {
      const std::uint64_t seed = draw.first_seed + i;
      if (in_->is_vertex(seed)) continue;
      const std::int32_t at = in_->voxels[draw.seeds[i].index].place;
      if (at >= 0) sums[static_cast<std::size_t>(at)] += number(seed);
    }
  }
  return sums;
}

std::string tract_maps::full_name(const std::string& name) const {
  return is_named() ? name + "_" + in_->tracts[tract_].name : name;
}

std::string tract_maps::full_meaning(const std::string& meaning) const {
  return is_named() ? in_->tracts[tract_].name + ": " + meaning : meaning;
}

}  // namespace voxherd
