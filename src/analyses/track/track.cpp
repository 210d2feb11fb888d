#include <algorithm>

#include "core/command.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/track/groups.hpp"
#include "src/analyses/track/matrix_steps.hpp"
#include "src/analyses/track/pair_matrix.hpp"
#include "src/analyses/track/streamlines.hpp"

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

exit_status run_tracts(session& s, const track_request& request, run_settings how, const device& d) {
  const tract_inputs in = read_tract_inputs(s, request);
  how.configuration = in.field.configuration;
  how.provenance["inputs"] = in.field.provenance;
  const std::vector<std::uint64_t> voxels = number_map_voxels(in.field);
  tract_collector collected(in);
  tract_sums sums;
  step_list steps;
  steps.run(
      "groups", [&] { return std::make_unique<tract_groups>(in, d); },
      [&](const std::string&, nlohmann::json& summary) {
        sums = collected.gather(s);
        s.on_root([&] { log_sums(sums, in, d); });
        std::uint64_t all = 0;
        for (const tract_run& run : in.runs) all += run.plan.streamlines();
        summary["streamlines"] = all;
      });
  steps.collect([&](const batch& groups, auto outputs) { collected.add(groups, outputs); }, tract_sum_bytes(in));
  steps.describe("group");
  std::vector<std::uint64_t> in_fsl_order;  // the maps' voxels
  steps.known_result(
      "maps",
      [&] {
        known_result result{"tracts", in.field.space.grid.in_file(), voxels, {}, {}};
        s.on_root([&] {
          in_fsl_order = in.field.space.grid.turned(voxels);
          result.outputs = make_tract_maps(sums, in, in_fsl_order);
          result.constants = make_tract_constants(sums, in);
        });
        return result;
      },
      tracts_size(in));
  return run_steps(s, "tracts", steps, how, hooks_for(d));
}

}  // namespace

exit_status run_track(session& s, const track_request& request) {
  run_settings how = make_run_settings(s, request.run);
  const device d = choose_device_of_one_kind(s, request.run);
  if (!request.tracts.empty()) return run_tracts(s, request, std::move(how), d);
  track_inputs in = read_track_inputs(s, request);
  const std::vector<seed_matrix> matrices = make_seed_matrices(s, request, in);
  pair_matrix pairs, fibre_pairs, target_pairs;
  if (!request.matrix3.empty()) pairs = make_pair_matrix(s, request, in);
  if (!request.matrix4_rows.empty()) fibre_pairs = make_fibre_pairs(s, request, in);
  if (!request.target_paths.empty()) target_pairs = make_target_matrix(s, request.target_paths, in);
  how.configuration = in.configuration;
  how.provenance["inputs"] = in.provenance;

  const std::vector<std::uint64_t> voxels = number_map_voxels(in);
  group_collector collected(in);
  track_sums sums;
  step_list steps;
  const auto kept = std::make_shared<kept_streamlines>();
  steps.run(
      "groups",
      [&, part = choose_drawn_matrix(matrices, {&pairs, &fibre_pairs}, in, d)] {
        return std::make_unique<streamline_groups>(in, d, part);
      },
      [&](const std::string&, nlohmann::json& summary) {
        if (in.max_kept > 0) kept->numbers = choose_streamlines(s, collected.accepted_bits(), in);
        sums = collected.gather(s);
        s.on_root([&] { log_sums(sums, in, d); });
        summary["streamlines"] = in.plan.streamlines();
      });
  constexpr double bits_per_byte = 8;
  steps.collect([&](const batch& groups, auto outputs) { collected.add(groups, outputs); },
                in.max_kept > 0 ? static_cast<double>(in.plan.streamlines()) / bits_per_byte : 0);
  steps.describe("group");
  if (in.max_kept > 0) add_streamline_steps(s, request.paths, kept, in, d, steps);
  for (const seed_matrix& m : matrices) add_matrix_steps(s, m, in, d, steps);
  if (!request.matrix3.empty()) add_pair_steps(s, pairs, in, d, steps);
  if (!request.matrix4_rows.empty()) add_pair_steps(s, fibre_pairs, in, d, steps);
  if (!request.target_paths.empty()) add_pair_steps(s, target_pairs, in, d, steps);
  std::vector<std::uint64_t> in_fsl_order;  // the maps' voxels
  steps.known_result(
      "maps",
      [&] {
        known_result result{"track", in.space.grid.in_file(), voxels, {}, {}};
        s.on_root([&] {
          in_fsl_order = in.space.grid.turned(voxels);
          result.outputs = make_track_maps(sums, in, in_fsl_order);
          result.constants = make_track_constants(sums, in);
        });
        return result;
      },
      track_size(in));
  return run_steps(s, "track", steps, how, hooks_for(d));
}

extern const command track_command = make_command<track_options, run_track>(
    {"track", "probabilistic streamlines: densities and matrices",
     "voxherd track --samples fibres.h5 --seed-image seed.nii.gz --loop-check on \\\n"
     "  --include left.nii.gz right.nii.gz --out tract.h5\n"
     "voxherd export tract.h5 --to nifti maps"},
    track_outputs);

}  // namespace voxherd
