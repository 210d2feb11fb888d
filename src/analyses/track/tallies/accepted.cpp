#include "kernels/track/tallies/accepted.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

namespace {

void add_accepted_map(const tract_maps& to) {
  if (to.is_named()) return;
  to.add_counts("accepted", accepted_meaning, [to] {
    const std::vector<std::uint64_t>& of_seeds = to.all_sums().values<"accepted">();
    return [by_place = to.add_in_places([&](std::uint64_t seed) { return of_seeds[seed]; })](std::size_t place) {
      return by_place[place];
    };
  });
}

std::size_t accepted_bytes(const track_inputs& in) { return in.has_tracts() ? 0 : count_bytes(in); }

constant waytotals_of_tracts(const track_sums& sums, const track_inputs& in) {
  constant all{"waytotal", {in.tracts.size()}, {}, "1", "accepted streamlines of each tract", "tracts"};
  for (std::size_t t = 0; t < in.tracts.size(); ++t) all.values.push_back(static_cast<double>(sums.accepted(t)));
  return all;
}

constant waytotals_of_regions(const track_sums& sums, const track_inputs& in) {
  constant all{"waytotal",
               {in.labels.size()},
               std::vector<double>(in.labels.size()),
               "1",
               "accepted streamlines from each region",
               "connectome"};
  const std::vector<std::uint64_t>& of_seeds = sums.values<"accepted">();
  for (std::size_t i = 0; i < of_seeds.size(); ++i)
    all.values[in.seed(i).region - 1] += static_cast<double>(of_seeds[i]);
  return all;
}

void add_waytotals(const track_sums& sums, const track_inputs& in, std::vector<constant>& all) {
  all.push_back(in.has_tracts() ? waytotals_of_tracts(sums, in)
                                : streamline_number("waytotal", sums.accepted(), "accepted streamlines"));
  const std::vector<std::uint64_t>& of_seeds = sums.values<"accepted">();
  if (!in.seed_places.empty())
    all.push_back(
        {"accepted", {of_seeds.size()}, {of_seeds.begin(), of_seeds.end()}, "1", "accepted streamlines", "seeds"});
  if (!in.labels.empty()) all.push_back(waytotals_of_regions(sums, in));
}

}  // namespace

const tally_output accepted::output{
    .add_maps = add_accepted_map, .map_bytes = accepted_bytes, .add_constants = add_waytotals};

}  // namespace voxherd::track
