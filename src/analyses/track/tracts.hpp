#pragma once

#include "core/analysis.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/protocols.hpp"

namespace voxherd {

/// Streamlines of a tract from its seed, or back from its last target.
struct tract_run {
  std::size_t tract = 0;                     ///< its number
  std::vector<std::uint32_t> marked, marks;  ///< voxels in its masks, and their bits beside mark::inside
  std::vector<track::seed> seeds;
  track::walk_settings how;
  track::group_plan plan;
  std::uint64_t first_group = 0;
};

/// Inputs of `voxherd track --tracts`; the same on every rank.
struct tract_inputs {
  track_inputs field;  ///< without masks and seeds
  std::vector<std::string> names;
  std::vector<tract_run> runs;

  std::uint64_t groups() const { return runs.back().first_group + runs.back().plan.groups(); }
  /// The run with this group.
  const tract_run& run_with(std::uint64_t group) const;
};

/// Collective. Throws failure, the same on every rank.
tract_inputs read_tract_inputs(const session& s, const track_request& request);

/// The step that draws the streamlines of all tracts: items are groups of them.
class tract_groups final : public analysis {
 public:
  tract_groups(const tract_inputs& inputs, const device& d);

  std::string name() const override { return "tract-groups"; }
  const image_grid& grid() const override { return inputs_.field.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return first_voxels_; }
  std::vector<output_spec> outputs() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return 16; }

 private:
  const tract_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> first_voxels_;  ///< of each group's first seed
};

/// Sums over the groups of each tract.
struct tract_sums {
  std::vector<std::vector<std::uint64_t>> density, length;  ///< by tract and place; length: in steps
  std::vector<std::uint64_t> accepted, started;
  std::uint64_t walked = 0;
};

/// By one process, from the step's file. Throws failure.
tract_sums add_tract_groups(const result_reader& groups, const tract_inputs& in);

/// Maps over `voxels`, the voxels of all places in increasing order, and constants.
std::vector<known_output> make_tract_maps(const tract_sums& sums, const tract_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_tract_constants(const tract_sums& sums, const tract_inputs& in);

}  // namespace voxherd
