#include "kernels/track/tallies/hits.hpp"

#include "kernels/track/tallies/lengths.hpp"
#include "src/analyses/track/connectome.hpp"
#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

namespace {

/// (region, region), one value per pair. `value`: of two regions.
template <class Value>
constant make_connectome(const char* name, const char* unit, const char* meaning, const track_inputs& in,
                         const Value& value) {
  const std::size_t n = in.labels.size();
  constant c{name, {n, n}, {}, unit, meaning, "connectome"};
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) c.values.push_back(static_cast<double>(value(from, to)));
  return c;
}

/// (seed, target), of seeds that maps do not show.
template <class Value>
constant make_seed_table(const char* name, const char* unit, const char* meaning, const track_inputs& in,
                         const Value& value) {
  const std::size_t seeds = in.seeds(), targets = in.target_names.size();
  constant c{name, {seeds, targets}, {}, unit, meaning, "seeds"};
  for (std::size_t seed = 0; seed < seeds; ++seed)
    for (std::size_t t = 0; t < targets; ++t) c.values.push_back(static_cast<double>(value(seed, t)));
  return c;
}

bool has_seed_tables(const track_inputs& in) { return !in.seed_places.empty() && !in.target_names.empty(); }

bool has_columns(const track_inputs& in) { return in.columns() > 0; }
bool has_columns_and_lengths(const track_inputs& in) { return in.columns() > 0 && in.tallies.has<lengths>(); }

/// The maps of one target, as FSL calls them.
void add_maps_of_target(const tract_maps& to, std::size_t target) {
  const std::string name = "seeds_to_" + to.inputs().target_names[target];
  const auto count_hits = [to, target] {
    return to.add_in_places([&](std::uint64_t seed) { return to.all_sums().of_target<"hits">(seed, target); });
  };
  to.add_counts(name, "accepted streamlines of the seed voxel that reach the target",
                [count_hits] { return [hits = count_hits()](std::size_t place) { return hits[place]; }; });
  if (!is_counted<hit_lengths>(to.inputs())) return;
  to.add(name + "_lengths", "mm", "mean length of their paths to its first point", [to, target, count_hits] {
    std::vector<std::uint64_t> sums =
        to.add_in_places([&](std::uint64_t seed) { return to.all_sums().of_target<"hit_length">(seed, target); });
    return [hits = count_hits(), sums = std::move(sums), step_mm = to.inputs().step_mm](std::size_t place) {
      return static_cast<float>(share(sums[place], hits[place]) * step_mm);
    };
  });
}

void add_target_maps(const tract_maps& to) {
  for (std::size_t t = 0; t < to.inputs().target_names.size(); ++t) add_maps_of_target(to, t);
}

std::size_t target_bytes(const track_inputs& in) {
  return in.target_names.size() * (count_bytes(in) + (is_counted<hit_lengths>(in) ? sizeof(float) : 0));
}

void add_hit_counts(const track_sums& sums, const track_inputs& in, std::vector<constant>& all) {
  if (has_seed_tables(in))
    all.push_back(make_seed_table("hits", "1", "accepted streamlines of each seed (row) that reach each target", in,
                                  [&](std::size_t seed, std::size_t t) { return sums.of_target<"hits">(seed, t); }));
  if (in.labels.empty()) return;
  const auto of_regions = [&](std::size_t from, std::size_t to) { return sums.of_regions<"hits">(from, to); };
  constant count = make_connectome("count", "1", "accepted streamlines from a region (row) that reach another (column)",
                                   in, of_regions);
  constant share = make_share(count);
  all.insert(all.end(), {std::move(count), std::move(share)});
}

void add_hit_lengths(const track_sums& sums, const track_inputs& in, std::vector<constant>& all) {
  if (has_seed_tables(in))
    all.push_back(make_seed_table(
        "mean_length_mm", "mm", "mean length of their paths to its first point", in,
        [&](std::size_t seed, std::size_t t) {
          return share(sums.of_target<"hit_length">(seed, t), sums.of_target<"hits">(seed, t)) * in.step_mm;
        }));
  if (!in.labels.empty())
    all.push_back(make_connectome(
        "mean_length_mm", "mm", "mean length of their paths to its first point; 0 without streamlines", in,
        [&](std::size_t from, std::size_t to) {
          return share(sums.of_regions<"hit_length">(from, to), sums.of_regions<"hits">(from, to)) * in.step_mm;
        }));
}

}  // namespace

const tally_output hits::output{
    .is_wanted = has_columns, .add_maps = add_target_maps, .map_bytes = target_bytes, .add_constants = add_hit_counts};

const tally_output hit_lengths::output{.is_wanted = has_columns_and_lengths, .add_constants = add_hit_lengths};

}  // namespace voxherd::track
