#include "src/analyses/track/sums.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/text.hpp"
#include "kernels/portable/output_rows.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "src/analyses/track/matrix.hpp"
#include "src/analyses/track/streamlines.hpp"

namespace voxherd {

namespace {

constexpr const char* density_meaning = "number of accepted streamlines that visit the voxel";
constexpr const char* accepted_meaning = "number of accepted streamlines that start in the voxel; 0 outside the seeds";

template <class T>
void add_row(std::span<const T> row, std::vector<std::uint64_t>& sums, std::size_t first = 0) {
  for (std::size_t i = 0; i < row.size(); ++i) sums[first + i] += row[i];
}

/// Row number `i` of `count`.
template <class T>
std::span<const T> row_of(std::span<const T> values, std::size_t i, std::size_t count) {
  const std::size_t width = values.size() / count;
  return values.subspan(i * width, width);
}

/// Adds the rows of a group's seeds to the sums of their regions, and to their own of the targets.
template <class T>
void add_hits(std::span<const T> rows, std::size_t first_seed, const track_inputs& in,
              std::vector<std::uint64_t>& of_regions, std::vector<std::uint64_t>& of_targets) {
  const std::size_t columns = in.columns(), regions = in.labels.size(), targets = columns - regions;
  for (std::size_t i = 0; i < rows.size() && first_seed + i / columns < in.seeds.size(); ++i) {
    const std::size_t seed = first_seed + i / columns, column = i % columns;
    if (column < regions) {
      of_regions[(in.seeds[seed].region - 1) * regions + column] += rows[i];
    } else {
      of_targets[seed * targets + column - regions] += rows[i];
    }
  }
}

/// The sums of all ranks, on rank 0; the others free theirs.
void add_ranks(const session& s, std::vector<std::uint64_t>& sums) {
  s.all_reduce(reduction::sum, std::span<std::uint64_t>(sums));
  if (!s.is_root()) sums = {};
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// Counts of at most `most`, in 32 bits while they cannot overflow, which more programs can read. `count`: of a voxel
/// in the order of FSL.
template <class Count>
known_output count_map(std::string name, std::uint64_t most, std::string meaning,
                       const std::vector<std::uint64_t>& voxels, Count count) {
  const auto make = [&voxels, count = std::move(count)]<class T>(T) {
    std::vector<T> values;
    values.reserve(voxels.size());
    for (const std::uint64_t v : voxels) values.push_back(static_cast<T>(count(v)));
    return values;
  };
  if (most > 0xffffffff)
    return known_map(std::move(name), "1", std::move(meaning), [make] { return make(std::uint64_t{}); });
  return known_map(std::move(name), "1", std::move(meaning), [make] { return make(std::uint32_t{}); });
}

/// `value`: of a voxel, as above.
template <class Value>
known_output value_map(std::string name, std::string unit, std::string meaning,
                       const std::vector<std::uint64_t>& voxels, Value value) {
  return known_map(std::move(name), std::move(unit), std::move(meaning), [&voxels, value = std::move(value)] {
    std::vector<decltype(value(std::uint64_t{}))> values;
    values.reserve(voxels.size());
    for (const std::uint64_t v : voxels) values.push_back(value(v));
    return values;
  });
}

constant number(const char* name, std::uint64_t value, const char* meaning) {
  return {name, {1}, {static_cast<double>(value)}, "1", meaning, "streamlines"};
}

constant mask_voxels(const track_inputs& in) {
  return number("mask_voxels", in.mask_voxels, "voxels in which streamlines run; maps have their neighbours, too");
}

/// The number of the seed in each voxel, from 1; 0: none.
std::vector<std::uint32_t> seeds_in_voxels(const track_inputs& in) {
  std::vector<std::uint32_t> seed(in.voxels.size());
  for (std::size_t i = 0; i < in.seeds.size(); ++i)
    if (!in.is_vertex(i)) seed[in.seeds[i].index] = static_cast<std::uint32_t>(i) + 1;
  return seed;
}

/// A map for each target, as FSL calls them.
void add_target_maps(const track_sums& sums, const track_inputs& in, const std::vector<std::uint64_t>& voxels,
                     const std::shared_ptr<const std::vector<std::uint32_t>>& seed, std::vector<known_output>& maps) {
  const std::size_t targets = in.target_names.size();
  for (std::size_t t = 0; t < targets; ++t) {
    const std::string name = "seeds_to_" + in.target_names[t];
    /// The place of a voxel's number in a table with one row per seed.
    const auto place = [seed, t, targets](std::uint64_t v) { return ((*seed)[v] - 1) * targets + t; };
    maps.push_back(
        count_map(name, in.plan.streamlines(), "accepted streamlines of the seed voxel that reach the target", voxels,
                  [&sums, seed, place](std::uint64_t v) { return (*seed)[v] == 0 ? 0 : sums.target_hits[place(v)]; }));
    if (!in.lengths) continue;
    maps.push_back(value_map(name + "_lengths", "mm", "mean length of their paths to its first point", voxels,
                             [&sums, &in, seed, place](std::uint64_t v) {
                               const bool is_seed = (*seed)[v] != 0;
                               return static_cast<float>(share(is_seed ? sums.target_length[place(v)] : 0,
                                                               is_seed ? sums.target_hits[place(v)] : 0) *
                                                         in.step_mm);
                             }));
  }
}

/// Where the seeds are and what was counted of each, if some are vertices, which maps do not show.
void add_seed_constants(const track_sums& sums, const track_inputs& in, std::vector<constant>& all) {
  if (in.seed_places.empty()) return;
  add_places(in.seed_places, "", "seeds", all);
  const std::uint64_t seeds = in.seeds.size(), targets = in.target_names.size();
  all.push_back(
      {"accepted", {seeds}, {sums.accepted.begin(), sums.accepted.end()}, "1", "accepted streamlines", "seeds"});
  if (targets == 0) return;
  constant hits{"hits",
                {seeds, targets},
                {sums.target_hits.begin(), sums.target_hits.end()},
                "1",
                "accepted streamlines of each seed (row) that reach each target",
                "seeds"};
  all.push_back(hits);
  if (!in.lengths) return;
  for (std::size_t i = 0; i < hits.values.size(); ++i)
    hits.values[i] = share(sums.target_length[i], sums.target_hits[i]) * in.step_mm;
  hits.name = "mean_length_mm", hits.unit = "mm", hits.meaning = "mean length of their paths to its first point";
  all.push_back(std::move(hits));
}

/// Streamlines from a region that is a surface to another one.
std::uint64_t count_between_surfaces(const track_sums& sums, const track_inputs& in) {
  const std::size_t regions = in.labels.size();
  std::vector<bool> is_surface(regions);
  for (std::size_t i = 0; i < in.seed_places.size(); ++i)
    if (in.is_vertex(i)) is_surface[in.seeds[i].region - 1] = true;
  std::uint64_t all = 0;
  for (std::size_t from = 0; from < regions; ++from)
    for (std::size_t to = 0; to < regions; ++to)
      if (from != to && is_surface[from] && is_surface[to]) all += sums.hits[from * regions + to];
  return all;
}

/// The direction whose product with those of the streamlines is largest; its largest component is positive.
void find_main_direction(const std::uint64_t* sums, float (&main)[3]) {
  double m[6];
  for (int i = 0; i < 6; ++i) m[i] = static_cast<double>(static_cast<std::int64_t>(sums[i]));
  if (m[0] + m[1] + m[2] <= 0) return;
  const eigen_system3<double> e = symmetric_eigen3<double>(m[0], m[3], m[4], m[1], m[5], m[2]);
  const auto* largest =
      std::max_element(e.vector[0], e.vector[0] + 3, [](double a, double b) { return std::abs(a) < std::abs(b); });
  for (int d = 0; d < 3; ++d) main[d] = static_cast<float>(*largest < 0 ? -e.vector[0][d] : e.vector[0][d]);
}

known_output make_direction_map(const track_sums& sums, const track_inputs& in,
                                const std::vector<std::uint64_t>& voxels) {
  known_output map = known_map(
      "local_direction", "1", "main direction of the streamlines that visit the voxel", [&sums, &in, &voxels] {
        std::vector<float> all;
        all.reserve(3 * voxels.size());
        for (const std::uint64_t v : voxels) {
          float main[3] = {};
          const auto place = static_cast<std::size_t>(in.voxels[v].place);
          find_main_direction(sums.directions.data() + place * track::direction_products, main);
          all.insert(all.end(), main, main + 3);
        }
        return all;
      });
  map.spec.shape = {3};
  return map;
}

/// `where`: "" or the tract's name with a colon. `describe`: why there are none.
template <class Describe>
void warn_of_few(const std::string& where, std::uint64_t accepted, const Describe& describe) {
  constexpr std::uint64_t few = 100;
  if (accepted == 0) {
    spdlog::warn("{}no streamline was accepted{}", where, describe());
  } else if (accepted < few) {
    spdlog::warn("{}only {} accepted: a density of n is known to about the square root of n; draw more per seed voxel",
                 where, counted(accepted, "streamline"));
  }
}

}  // namespace

std::uint64_t track_sums::all_accepted() const {
  return std::accumulate(accepted.begin(), accepted.end(), std::uint64_t{0});
}

group_collector::group_collector(const track_inputs& in) : in_(in), chosen_(chosen_outputs<group_outputs>(in)) {
  const std::size_t places = in.place_voxels.size(), pairs = in.labels.size() * in.labels.size(),
                    cells = in.seeds.size() * in.target_names.size();
  own_.density.resize(places);
  own_.length.resize(in.lengths ? places : 0);
  own_.accepted.resize(in.seeds.size());
  own_.hits.resize(pairs);
  own_.hit_length.resize(in.lengths ? pairs : 0);
  own_.target_hits.resize(cells);
  own_.target_length.resize(in.lengths ? cells : 0);
  own_.directions.resize(in.directions ? places * track::direction_products : 0);
}

void group_collector::add(const batch& groups, std::span<const std::span<const std::byte>> outputs) {
  const output_rows<group_outputs> rows(outputs, chosen_);
  for (std::uint64_t i = 0; i < groups.item_count; ++i) {
    const std::uint64_t group = groups.first_item + i;
    const std::size_t first = in_.plan.first_seed(group);
    const auto row = [&](const auto values) { return row_of(values, i, groups.item_count); };
    add_row(row(rows.values<"density">()), own_.density);
    add_row(row(rows.values<"length">()), own_.length);
    add_row(row(rows.values<"directions">()), own_.directions);
    own_.walked += rows.values<"walked">()[i];
    const auto of_seeds = row(rows.values<"accepted">());
    add_row(of_seeds.first(std::min(of_seeds.size(), in_.seeds.size() - first)), own_.accepted, first);
    add_hits(row(rows.values<"hits">()), first, in_, own_.hits, own_.target_hits);
    add_hits(row(rows.values<"hit_length">()), first, in_, own_.hit_length, own_.target_length);
    const auto bits = row(rows.values<"accepted_bits">());
    if (!bits.empty()) accepted_bits_.emplace_back(group, std::vector<std::uint32_t>(bits.begin(), bits.end()));
  }
}

track_sums group_collector::gather(const session& s) {
  track_sums all = std::move(own_);
  for (auto* sums : {&all.density, &all.length, &all.accepted, &all.hits, &all.hit_length, &all.target_hits,
                     &all.target_length, &all.directions})
    add_ranks(s, *sums);
  all.walked = s.all_reduce(reduction::sum, all.walked);
  return all;
}

void log_sums(const track_sums& sums, const track_inputs& in, const device& d) {
  const std::uint64_t all = in.plan.streamlines(), accepted = sums.all_accepted();
  if (all == 0) return spdlog::warn("there are no seeds: no streamline was started");
  spdlog::info("{} of {} accepted ({:.3g} %); {:.1f} steps on average", accepted, counted(all, "streamline"),
               100 * share(accepted, all), share(sums.walked, all));
  warn_of_few("", accepted, [&] { return describe_met_masks(in.view(), in.include_names, d.threads); });
  if (!in.labels.empty()) warn_of_separate_surfaces(in, count_between_surfaces(sums, in));
}

std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels) {
  const auto seed = std::make_shared<const std::vector<std::uint32_t>>(seeds_in_voxels(in));
  const auto place = [&in](std::uint64_t v) { return static_cast<std::size_t>(in.voxels[v].place); };
  const std::uint64_t all = in.plan.streamlines();
  std::vector<known_output> maps;
  maps.push_back(count_map("density", all, density_meaning, voxels,
                           [&sums, place](std::uint64_t v) { return sums.density[place(v)]; }));
  maps.push_back(count_map("accepted", all, accepted_meaning, voxels, [&sums, seed](std::uint64_t v) {
    return (*seed)[v] == 0 ? 0 : sums.accepted[(*seed)[v] - 1];
  }));
  if (in.lengths) {
    maps.push_back(value_map(
        "length_sum", "mm", "density times mean_length: the density with distance correction", voxels,
        [&sums, &in, place](std::uint64_t v) { return static_cast<double>(sums.length[place(v)]) * in.step_mm; }));
    maps.push_back(
        value_map("mean_length", "mm", "mean length of their paths from the seed to the first point in the voxel",
                  voxels, [&sums, &in, place](std::uint64_t v) {
                    return static_cast<float>(share(sums.length[place(v)], sums.density[place(v)]) * in.step_mm);
                  }));
  }
  if (in.directions) maps.push_back(make_direction_map(sums, in, voxels));
  add_target_maps(sums, in, voxels, seed, maps);
  return maps;
}

known_size track_size(const track_inputs& in) {
  const std::size_t targets = in.target_names.size(), count = in.plan.streamlines() > 0xffffffff ? 8 : 4;
  const std::size_t of_target = count + (in.lengths ? 4 : 0),
                    bytes = 2 * count + (in.lengths ? 12 : 0) + (in.directions ? 12 : 0) + targets * of_target;
  known_size size = size_of_maps(in.space.grid, in.place_voxels.size(), static_cast<double>(bytes), 12);
  size.memory_bytes += static_cast<double>(in.voxels.size() * sizeof(std::uint32_t));  // the seeds in the voxels
  return size;
}

std::vector<constant> make_track_constants(const track_sums& sums, const track_inputs& in) {
  std::vector<constant> all = {number("started", in.plan.streamlines(), "streamlines"),
                               number("waytotal", sums.all_accepted(), "accepted streamlines"),
                               number("steps", sums.walked, "steps of all streamlines"), mask_voxels(in)};
  add_seed_constants(sums, in, all);
  const std::uint64_t n = in.labels.size();
  if (n == 0) return all;
  const auto add = [&](const char* name, std::vector<std::uint64_t> shape, const char* unit, const char* meaning,
                       const auto& value) {
    constant c{name, std::move(shape), {}, unit, meaning, "connectome"};
    const std::size_t size = c.shape.size() == 1 ? n : n * n;
    for (std::size_t i = 0; i < size; ++i) c.values.push_back(static_cast<double>(value(i)));
    all.push_back(std::move(c));
  };
  add("labels", {n}, "1", "label of each row and column", [&](std::size_t i) { return in.labels[i]; });
  std::vector<std::uint64_t> accepted(n);
  for (std::size_t i = 0; i < in.seeds.size(); ++i) accepted[in.seeds[i].region - 1] += sums.accepted[i];
  add("waytotal", {n}, "1", "accepted streamlines from each region", [&](std::size_t i) { return accepted[i]; });
  add("count", {n, n}, "1", "accepted streamlines from a region (row) that reach another (column)",
      [&](std::size_t i) { return sums.hits[i]; });
  if (in.lengths)
    add("mean_length_mm", {n, n}, "mm", "mean length of their paths to its first point; 0 without streamlines",
        [&](std::size_t i) { return share(sums.hit_length[i], sums.hits[i]) * in.step_mm; });
  return all;
}

tract_collector::tract_collector(const tract_inputs& in)
    : in_(in), chosen_(chosen_outputs<tract_group_outputs>(in.field)) {
  const std::size_t tracts = in.names.size();
  own_.density.resize(tracts);
  own_.length.resize(in.field.lengths ? tracts : 0);
  own_.accepted.resize(tracts);
  own_.started.resize(tracts);
  for (const tract_run& run : in.runs) own_.started[run.tract] += run.plan.streamlines();
}

void tract_collector::add(const batch& groups, std::span<const std::span<const std::byte>> outputs) {
  const output_rows<tract_group_outputs> rows(outputs, chosen_);
  for (std::uint64_t i = 0; i < groups.item_count; ++i) {
    const std::size_t tract = in_.run_with(groups.first_item + i).tract;
    const auto add_places = [&](const auto values, std::vector<std::uint64_t>& sums) {
      sums.resize(in_.field.place_voxels.size());
      add_row(row_of(values, i, groups.item_count), sums);
    };
    add_places(rows.values<"density">(), own_.density[tract]);
    if (in_.field.lengths) add_places(rows.values<"length">(), own_.length[tract]);
    own_.accepted[tract] += rows.values<"accepted">()[i];
    own_.walked += rows.values<"walked">()[i];
  }
}

tract_sums tract_collector::gather(const session& s) {
  tract_sums all = std::move(own_);
  for (auto* maps : {&all.density, &all.length})
    for (std::vector<std::uint64_t>& sums : *maps) {
      sums.resize(in_.field.place_voxels.size());
      add_ranks(s, sums);
    }
  s.all_reduce(reduction::sum, std::span<std::uint64_t>(all.accepted));
  all.walked = s.all_reduce(reduction::sum, all.walked);
  return all;
}

void log_sums(const tract_sums& sums, const tract_inputs& in, const device& d) {
  const auto describe = [&](std::size_t tract) {
    const auto run = std::find_if(in.runs.begin(), in.runs.end(), [&](const auto& r) { return r.tract == tract; });
    std::vector<track::voxel_info> voxels = in.field.voxels;
    for (std::size_t i = 0; i < run->marked.size(); ++i) voxels[run->marked[i]].marks |= run->marks[i];
    return describe_met_masks(in.view(*run, voxels), run->include_names, d.threads);
  };
  for (std::size_t t = 0; t < in.names.size(); ++t) {
    const std::uint64_t accepted = sums.accepted[t], started = sums.started[t];
    spdlog::info("{}: {} of {} accepted ({:.3g} %)", in.names[t], accepted, counted(started, "streamline"),
                 100 * share(accepted, started));
    warn_of_few(in.names[t] + ": ", accepted, [&] { return describe(t); });
  }
}

std::vector<known_output> make_tract_maps(const tract_sums& sums, const tract_inputs& in,
                                          const std::vector<std::uint64_t>& voxels) {
  const auto place = [&in](std::uint64_t v) { return static_cast<std::size_t>(in.field.voxels[v].place); };
  std::vector<known_output> maps;
  for (std::size_t t = 0; t < in.names.size(); ++t) {
    const std::string& name = in.names[t];
    maps.push_back(count_map("density_" + name, sums.started[t],
                             fmt::format("{}: number of accepted streamlines that visit the voxel", name), voxels,
                             [&sums, place, t](std::uint64_t v) { return sums.density[t][place(v)]; }));
    maps.push_back(value_map("normalised_" + name, "1", name + ": density divided by its waytotal", voxels,
                             [&sums, place, t](std::uint64_t v) {
                               return static_cast<float>(share(sums.density[t][place(v)], sums.accepted[t]));
                             }));
    if (!in.field.lengths) continue;
    maps.push_back(value_map("mean_length_" + name, "mm",
                             name + ": mean length of their paths from the seed to the first point in the voxel",
                             voxels, [&sums, &in, place, t](std::uint64_t v) {
                               return static_cast<float>(share(sums.length[t][place(v)], sums.density[t][place(v)]) *
                                                         in.field.step_mm);
                             }));
  }
  return maps;
}

double tract_sum_bytes(const tract_inputs& in) {
  const double sums = (in.field.lengths ? 2 : 1) * sizeof(std::uint64_t);
  return static_cast<double>(in.names.size() * in.field.place_voxels.size()) * sums;
}

known_size tracts_size(const tract_inputs& in) {
  double bytes = 0;
  for (std::size_t t = 0; t < in.names.size(); ++t) bytes += 8 + (in.field.lengths ? 4 : 0);
  return size_of_maps(in.field.space.grid, in.field.place_voxels.size(), bytes, 8);
}

std::vector<constant> make_tract_constants(const tract_sums& sums, const tract_inputs& in) {
  const auto numbers = [&](const char* name, const std::vector<std::uint64_t>& values, const char* meaning) {
    return constant{name, {in.names.size()}, {values.begin(), values.end()}, "1", meaning, "tracts"};
  };
  return {numbers("started", sums.started, "streamlines of each tract, in the order of the maps"),
          numbers("waytotal", sums.accepted, "accepted streamlines of each tract"),
          number("steps", sums.walked, "steps of all streamlines"), mask_voxels(in.field)};
}

std::vector<output_spec> track_outputs() {
  const auto map = [](const char* name, const char* meaning) {
    return output_spec{name, element_type::uint32, {}, output_layout::volume, "1", meaning};
  };
  return {map("density", density_meaning), map("accepted", accepted_meaning)};
}

}  // namespace voxherd
