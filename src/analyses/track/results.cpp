#include "src/analyses/track/results.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "src/analyses/track/connectome.hpp"
#include "src/analyses/track/matrix.hpp"
#include "src/analyses/track/met_masks.hpp"
#include "src/analyses/track/surface_seeds.hpp"
#include "src/analyses/track/tract_maps.hpp"

namespace voxherd {

namespace {

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
  const std::vector<std::int64_t>& labels = in.region_labels();
  if (labels.empty()) return;
  all.push_back(
      {"labels", {labels.size()}, {labels.begin(), labels.end()}, "1", "label of each row and column", "connectome"});
}

/// The order of the groups of constants in a result.
std::size_t group_order(const constant& c) {
  constexpr std::array groups{"tracts", "streamlines", "seeds", "connectome"};
  return static_cast<std::size_t>(std::find(groups.begin(), groups.end(), c.group) - groups.begin());
}

}  // namespace

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

std::vector<constant> make_track_constants(const track_sums& sums, const std::vector<track::pair_entry>& regions,
                                           const track_inputs& in) {
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
  if (!in.regions.empty()) add_region_matrices(regions, sums.accepted(), in, all);
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

}  // namespace voxherd
