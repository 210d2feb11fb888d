#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "core/command.hpp"
#include "core/text.hpp"
#include "kernels/tensor_field/field.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/connections.hpp"
#include "src/analyses/geodesic/fibre_scores.hpp"
#include "src/analyses/geodesic/inputs.hpp"
#include "src/analyses/geodesic/options.hpp"
#include "src/analyses/geodesic/passes.hpp"
#include "src/scan/tensor_file.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

/// Shapes are compared by integrating accepted fibres again; before the scores their number is unknown.
later_step predict_comparison(const run_estimate& scored) {
  return {"", scored.run_seconds, true, "if all paths are accepted and compared"};
}

/// A written fibre is integrated again, in about the time of its score.
later_step predict_fibres(const geodesic_inputs& inputs, const run_estimate& scored) {
  const connection_nodes nodes = make_nodes(inputs);
  const std::uint64_t top = inputs.selection.top, n = nodes.labels.size();
  const std::uint64_t pairs = nodes.directed ? n * n : n * (n + 1) / 2;
  const bool is_limited = top > 0 && n > 1 && pairs < scored.items / top;
  const std::uint64_t fibres = is_limited ? pairs * top : scored.items;
  const double part = static_cast<double>(fibres) / static_cast<double>(std::max<std::uint64_t>(1, scored.items));
  return {"", scored.run_seconds * part, true,
          is_limited ? fmt::format("{} for each of {}", counted(top, "path"), counted(pairs, "pair"))
                     : "if all paths are accepted"};
}

/// The FA along a path is known by its mean.
void warn_about_grey_matter(const std::vector<scored_fibre>& written) {
  const auto low = std::count_if(written.begin(), written.end(), [](const scored_fibre& f) {
    return static_cast<double>(f.scores.get<"mean_FA">()) < white_matter_FA;
  });
  if (static_cast<double>(low) > max_part_outside * static_cast<double>(written.size()))
    spdlog::warn("{} of {} leave white matter: their mean FA is below {}; give --within-fa {}", low,
                 counted(written.size(), "path"), white_matter_FA, white_matter_FA);
}

/// Scores every fibre, ranks them, integrates the winners again and writes them. Collective. `how` holds configuration
/// and provenance. Throws failure, the same on every rank.
exit_status run_passes(session& s, geodesic_inputs& inputs, const run_settings& how, const device& d) {
  make_nodes(inputs);  // rejects matrices that are too large before any work is done
  std::unique_ptr<tensor_field::field> field;
  fibre_collector collected(d);
  connections found;
  step_list steps;
  steps.work("preparation", [&](nlohmann::json& summary) {
    field = prepare_field(s, inputs, d);
    summary["preparation_device_seconds"] = field->seconds;
  });
  steps.run("scores", [&] { return std::make_unique<scoring>(inputs, *field); })
      .collect([&](const batch& fibres, auto outputs) { collected.add(fibres, outputs); })
      .describe("path");
  const auto ranking = steps.work("ranking", [&](nlohmann::json& summary) {
    const fibre_counts counts = collected.count_all(s);
    found = rank_connections(s, inputs, *field, collected.take_accepted());
    summary.update(counts_as_json(counts));
    log_counts(counts);
    if (found.winners.size() != found.candidates)
      spdlog::info("{} of {} accepted paths are written", found.winners.size(), found.candidates);
    warn_about_grey_matter(found.winners);
  });
  if (inputs.selection.distinct_mm > 0) ranking.describe("path", predict_comparison);
  steps.result("paths", [&] { return std::make_unique<winners>(inputs, *field, found); })
      .describe("path", [&](const run_estimate& scored) { return predict_fibres(inputs, scored); });
  return run_steps(s, "geodesic", steps, how, hooks_for(d));
}

}  // namespace

exit_status run_geodesic(session& s, const geodesic_request& request) {
  run_settings how = make_run_settings(s, request.run);
  refuse_mixed(request.run);
  std::optional<device> chosen;  // late: CUDA starts while inputs are read
  const auto choose = [&] {
    if (!chosen) chosen = choose_device_of_one_kind(s, request.run);
    return *chosen;
  };
  geodesic_inputs inputs = read_geodesic_inputs(s, request, choose);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_passes(s, inputs, how, choose());
}

extern const command geodesic_command =
    make_command<geodesic_options, run_geodesic>({"geodesic", "ranked geodesic connections between regions",
                                                  "voxherd geodesic --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
                                                  "  --mask mask.nii.gz --seed-image white_matter.nii.gz \\\n"
                                                  "  --connectome parcellation.nii.gz --out connections.h5\n"
                                                  "voxherd export connections.h5 --to csv matrices"},
                                                 [] { return output_specs<fibre_outputs>(); });

}  // namespace voxherd
