#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/estimate.hpp"
#include "mpi/run/known_result.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Counts of a group of streamlines. The result is their sum over all groups, which does not depend on who drew which
/// group.
struct group_outputs {
  using inputs = track_inputs;
  using shape = std::vector<std::uint64_t>;
  static shape places(const inputs& in) { return {in.place_voxels.size()}; }
  static shape seeds(const inputs& in) { return {in.plan.seed_rows()}; }
  static shape hits(const inputs& in) { return {in.plan.seed_rows(), in.columns()}; }
  static shape products(const inputs& in) { return {in.place_voxels.size(), track::direction_products}; }
  static shape words(const inputs& in) { return {track::bit_words(in.plan.per_group)}; }
  static bool has_lengths(const inputs& in) { return in.lengths; }
  static bool has_columns(const inputs& in) { return in.columns() > 0; }
  static bool has_both(const inputs& in) { return in.columns() > 0 && in.lengths; }
  static bool has_directions(const inputs& in) { return in.directions; }
  static bool keeps(const inputs& in) { return in.max_kept > 0; }

  static constexpr step_output<inputs> table[] = {
      {"density", element_type::uint32, 0, "1", "accepted streamlines that visit each place", {.shape = places}},
      {"accepted", element_type::uint32, 0, "1", "accepted streamlines of each seed of the group", {.shape = seeds}},
      {"walked", element_type::uint64, 1, "1", "steps of all streamlines"},
      {"length",
       element_type::uint64,
       0,
       "steps",
       "sum of the lengths from the seed",
       {.shape = places, .when = has_lengths}},
      {"hits",
       element_type::uint32,
       0,
       "1",
       "accepted streamlines to each region or target",
       {.shape = hits, .when = has_columns}},
      {"hit_length", element_type::uint64, 0, "steps", "sum of their lengths to it", {.shape = hits, .when = has_both}},
      {"directions",
       element_type::uint64,
       0,
       "1",
       "sums of products of components",
       {.shape = products, .when = has_directions}},
      {"accepted_bits",
       element_type::uint32,
       0,
       "1",
       "one bit per streamline: it is accepted",
       {.shape = words, .when = keeps}},
  };
};

/// The step that draws the streamlines: items are groups of them, with one row of integer counts each.
class streamline_groups final : public analysis, public divisible_items {
 public:
  streamline_groups(const track_inputs& inputs, const device& d)
      : inputs_(inputs), device_(d), voxels_(inputs.plan.groups(), no_voxel) {}

  std::string name() const override { return "track-groups"; }
  const image_grid& grid() const override { return inputs_.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<group_outputs>(inputs_); }
  std::size_t device_bytes_per_item() const override { return output_bytes_per_item<group_outputs>(inputs_); }
  std::unique_ptr<batch_runner> make_runner() const override { return make_probe(inputs_.plan.per_group); }
  std::uint64_t max_items_per_batch() const override;
  std::uint64_t parts_of_item(std::uint64_t) const override { return inputs_.plan.per_group; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t streamlines) const override;

 private:
  const track_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> voxels_;
};

/// The same for --tracts.
struct tract_group_outputs {
  using inputs = track_inputs;
  static constexpr step_output<inputs> table[] = {
      {"density",
       element_type::uint32,
       0,
       "1",
       "accepted streamlines that visit each place",
       {.shape = group_outputs::places}},
      {"accepted", element_type::uint64, 1, "1", "accepted streamlines"},
      {"walked", element_type::uint64, 1, "1", "steps of all streamlines"},
      {"length",
       element_type::uint64,
       0,
       "steps",
       "sum of the lengths from the seed",
       {.shape = group_outputs::places, .when = group_outputs::has_lengths}},
  };
};

/// The step that draws the streamlines of all tracts: items are groups of them.
class tract_groups final : public analysis, public divisible_items {
 public:
  tract_groups(const tract_inputs& inputs, const device& d)
      : inputs_(inputs), device_(d), voxels_(inputs.groups(), no_voxel) {}

  std::string name() const override { return "tract-groups"; }
  const image_grid& grid() const override { return inputs_.field.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<tract_group_outputs>(inputs_.field); }
  std::size_t device_bytes_per_item() const override {
    return output_bytes_per_item<tract_group_outputs>(inputs_.field);
  }
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return 16; }
  std::uint64_t parts_of_item(std::uint64_t group) const override { return inputs_.run_with(group).plan.per_group; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t streamlines) const override;

 private:
  const tract_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> voxels_;
};

/// Sums over all groups of streamlines; on rank 0.
struct track_sums {
  std::vector<std::uint64_t> density, length;   ///< by place; length: in steps
  std::vector<std::uint64_t> accepted;          ///< by seed
  std::vector<std::uint64_t> hits, hit_length;  ///< (region, region), or (seed, target)
  std::vector<std::uint64_t> directions;        ///< by place, as track::counters has them
  std::uint64_t walked = 0;

  std::uint64_t all_accepted() const;
};

/// Number of a group, and its bits as track::counters has them.
using group_bits = std::pair<std::uint64_t, std::vector<std::uint32_t>>;

/// Adds up the groups whose batches this rank receives, in any order.
class group_collector {
 public:
  explicit group_collector(const track_inputs& in);
  /// A batch of streamline_groups.
  void add(const batch& groups, std::span<const std::span<const std::byte>> outputs);
  /// Of all ranks. Collective; once.
  track_sums gather(const session& s);
  /// Of this rank's groups, in any order.
  const std::vector<group_bits>& accepted_bits() const { return accepted_bits_; }

 private:
  const track_inputs& in_;
  output_choice<group_outputs> chosen_;
  track_sums own_;
  std::vector<group_bits> accepted_bits_;
};

void log_sums(const track_sums& sums, const track_inputs& in, const device& d);

/// The result: maps over `voxels`, the voxels of all places in increasing order, and constants.
std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_track_constants(const track_sums& sums, const track_inputs& in);

/// Sums over all groups of each tract; on rank 0.
struct tract_sums {
  std::vector<std::vector<std::uint64_t>> density, length;  ///< by tract and place; length: in steps
  std::vector<std::uint64_t> accepted, started;
  std::uint64_t walked = 0;
};

/// The same for tract_groups.
class tract_collector {
 public:
  explicit tract_collector(const tract_inputs& in);
  void add(const batch& groups, std::span<const std::span<const std::byte>> outputs);
  tract_sums gather(const session& s);

 private:
  const tract_inputs& in_;
  output_choice<tract_group_outputs> chosen_;
  tract_sums own_;
};

void log_sums(const tract_sums& sums, const tract_inputs& in, const device& d);
std::vector<known_output> make_tract_maps(const tract_sums& sums, const tract_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_tract_constants(const tract_sums& sums, const tract_inputs& in);

/// Outputs with default options, for the help text.
std::vector<output_spec> track_outputs();

/// Why no streamline counts: how many of some of them, drawn again in host memory, meet each mask.
std::string describe_met_masks(const track::track_input& view, const std::vector<std::string>& include_names,
                               int threads);

/// Accepted streamlines whose points are written.
struct kept_streamlines {
  std::vector<std::uint64_t> numbers;  ///< increasing
  std::vector<std::uint64_t> offsets;  ///< of their points
};

/// Up to in.max_kept accepted streamlines at even distances in their order, which does not depend on groups and ranks.
/// `own`: the bits of the groups that this rank received. Collective; the same on every rank.
std::vector<std::uint64_t> choose_streamlines(const session& s, const std::vector<group_bits>& own,
                                              const track_inputs& in);

/// Adds the steps that draw the kept streamlines again, in host memory: how many points each has, and what they are.
/// They are written to `file`.
void add_streamline_steps(const session& s, const std::string& file, const std::shared_ptr<kept_streamlines>& kept,
                          const track_inputs& in, const device& d, step_list& steps);

}  // namespace voxherd
