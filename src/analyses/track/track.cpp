#include <algorithm>

#include "core/command.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/track/group_plans.hpp"
#include "src/analyses/track/groups.hpp"
#include "src/analyses/track/matrix_steps.hpp"
#include "src/analyses/track/pair_matrix.hpp"
#include "src/analyses/track/results.hpp"
#include "src/analyses/track/streamlines.hpp"
#include "src/analyses/track/track_run.hpp"
#include "src/analyses/track/tracts.hpp"

namespace voxherd {

namespace {

/// The voxels of the maps, as the files number them.
std::vector<std::uint64_t> number_map_voxels(const track_inputs& in) {
  std::vector<std::uint8_t> has_place(in.space.grid.voxel_count());
  for (const std::uint64_t v : in.place_voxels) has_place[in.space.grid.turned(v)] = 1;
  std::vector<std::uint64_t> voxels;
  voxels.reserve(in.place_voxels.size());
  for (std::uint64_t v = 0; v < has_place.size(); ++v)
    if (has_place[v] != 0) voxels.push_back(v);
  return voxels;
}

/// The matrices that a request asks for. Collective.
track_matrices make_matrices(const session& s, const track_request& request, const track_extension& more,
                             track_inputs& in) {
  track_matrices all{make_seed_matrices(s, request, in), {}};
  if (!in.regions.empty()) all.pairs.push_back(make_region_pairs(s, in));
  if (!request.matrix3.empty()) all.pairs.push_back(make_pair_matrix(s, request, in));
  if (!request.matrix4_rows.empty()) all.pairs.push_back(make_fibre_pairs(s, request, in));
  if (more.add_matrices) more.add_matrices(s, in, all);
  return all;
}

/// The sums of the pairs of regions; empty if none are counted.
const std::vector<track::pair_entry>& pairs_of_regions(const track_matrices& matrices) {
  static const std::vector<track::pair_entry> none;
  for (const pair_matrix& m : matrices.pairs)
    if (m.sums) return *m.sums;
  return none;
}

}  // namespace

exit_status run_track(session& s, const track_request& request) { return run_track_with(s, request, {}); }

exit_status run_track_with(session& s, const track_request& request, const track_extension& more) {
  run_settings how = make_run_settings(s, request.run);
  const device d = choose_device_of_one_kind(s, request.run);
  track_inputs in = request.tracts.empty() ? read_track_inputs(s, request, more.seeds) : read_tract_inputs(s, request);
  const track_matrices matrices = make_matrices(s, request, more, in);
  number_draws(!matrices.rows.empty(), !matrices.pairs.empty(), in);
  how.configuration = in.configuration;
  how.provenance["inputs"] = in.provenance;

  const std::vector<std::uint64_t> voxels = number_map_voxels(in);
  group_collector collected(in);
  const track_sums& sums = collected.sums();
  step_list steps;
  const auto kept = std::make_shared<kept_streamlines>();
  const auto draw = [&, part = choose_drawn_matrix(matrices.rows, matrices.pairs, in, d)] {
    return std::make_unique<streamline_groups>(in, d, part);
  };
  const auto add_up = [&](const std::string&, nlohmann::json& summary) {
    if (in.max_kept > 0) kept->numbers = choose_streamlines(s, sums.accepted_bits(), in);
    collected.sums().gather(s);
    s.on_root([&] { log_sums(sums, in, d); });
    summary["streamlines"] = in.streamlines();
  };
  steps.run("groups", draw, add_up)
      .collect([&](const batch& groups, auto outputs) { collected.add(groups, outputs); }, sum_bytes(in))
      .describe("group");
  if (in.max_kept > 0) add_streamline_steps(s, request.paths, kept, in, d, steps);
  for (const seed_matrix& m : matrices.rows) add_matrix_steps(s, m, in, d, steps);
  for (const pair_matrix& m : matrices.pairs) add_pair_steps(s, m, in, d, steps);
  const std::string name = in.has_tracts() ? "tracts" : "track";
  std::vector<std::uint64_t> in_fsl_order;  // the maps' voxels
  steps.known_result(
      "maps",
      [&] {
        known_result result{name, in.space.grid.in_file(), voxels, {}, {}};
        s.on_root([&] {
          in_fsl_order = in.space.grid.turned(voxels);
          result.outputs = make_track_maps(sums, in, in_fsl_order);
          result.constants = make_track_constants(sums, pairs_of_regions(matrices), in);
        });
        return result;
      },
      track_size(in));
  return run_steps(s, name, steps, how, hooks_for(d));
}

extern const command track_command = make_command<track_options, run_track>(
    {"track", "probabilistic streamlines: densities and matrices",
     "voxherd track --samples fibres.h5 --seed-image seed.nii.gz --loop-check on \\\n"
     "  --include left.nii.gz right.nii.gz --out tract.h5\n"
     "voxherd export tract.h5 --to nifti maps"},
    track_outputs);

}  // namespace voxherd
