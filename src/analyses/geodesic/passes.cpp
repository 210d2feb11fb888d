#include "src/analyses/geodesic/passes.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/readable.hpp"
#include "kernels/geodesic/finsler_fit.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/connections.hpp"
#include "src/analyses/geodesic/fibre_scores.hpp"
#include "src/analyses/geodesic/scoring.hpp"
#include "src/analyses/geodesic/winners.hpp"
#include "src/scan/repaired_tensors.hpp"

namespace voxherd {

namespace {

/// Shapes are compared by integrating accepted fibres again; before the scores their number is unknown.
later_step predict_comparison(const run_estimate& scored) {
  return {"", scored.run_seconds, true, "if all fibres are accepted and compared"};
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
          is_limited ? fmt::format("{} for each of {}", counted(top, "fibre"), counted(pairs, "pair"))
                     : "if all fibres are accepted"};
}

}  // namespace

std::unique_ptr<tensor_field::field> prepare_field(const session& s, const geodesic_inputs& inputs, const device& d) {
  std::unique_ptr<tensor_field::field> field;
  s.agree([&] {
    use_device(d);
    const bool spline = inputs.rays.reading == geodesic::interpolation::bspline;
    const tensor_field::field_kind kind = field_for(inputs.rays.form);
    field = kind == tensor_field::field_kind::quartic
                ? geodesic::make_quartic_field(d, inputs.image, inputs.quartics, inputs.regions, inputs.how, spline)
                : make_field(d, inputs.image, inputs.regions, inputs.how, kind, spline);
  });
  warn_repaired(field->repaired, inputs.image, inputs.how.min_eigenvalue, "--least-eigenvalue");
  return field;
}

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
  steps.run("scores", [&] { return std::make_unique<scoring>(inputs, *field); });
  steps.collect([&](const batch& fibres, auto outputs) { collected.add(fibres, outputs); });
  steps.describe("fibre");
  steps.work("ranking", [&](nlohmann::json& summary) {
    const fibre_counts counts = collected.count_all(s);
    found = rank_connections(s, inputs, *field, collected.take_accepted());
    summary.update(counts_as_json(counts));
    log_counts(counts);
    if (found.winners.size() != found.candidates)
      spdlog::info("{} of {} accepted fibres are written", found.winners.size(), found.candidates);
  });
  if (inputs.selection.distinct_mm > 0) steps.describe("fibre", predict_comparison);
  steps.result("fibres", [&] { return std::make_unique<winners>(inputs, *field, found); });
  steps.describe("fibre", [&](const run_estimate& scored) { return predict_fibres(inputs, scored); });
  return run_steps(s, "geodesic", steps, how, hooks_for(d));
}

}  // namespace voxherd
