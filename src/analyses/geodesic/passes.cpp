#include "src/analyses/geodesic/passes.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "kernels/geodesic/finsler_fit.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/connections.hpp"
#include "src/analyses/geodesic/fibre_scores.hpp"
#include "src/analyses/geodesic/scoring.hpp"
#include "src/analyses/geodesic/winners.hpp"

namespace voxherd {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

std::unique_ptr<geodesic::field> prepare(const session& s, const geodesic_inputs& inputs, const device& d) {
  std::unique_ptr<geodesic::field> field;
  s.agree([&] {
    use_device(d);
    const bool spline = inputs.rays.reading == geodesic::interpolation::bspline;
    const geodesic::field_kind kind = field_for(inputs.rays.form);
    field = kind == geodesic::field_kind::quartic
                ? make_quartic_field(d, inputs.image, inputs.quartics, inputs.regions, inputs.how, spline)
                : make_field(d, inputs.image, inputs.regions, inputs.how, kind, spline);
  });
  if (field->repaired > 0)
    spdlog::warn("{} voxels have a tensor that is not positive definite; it was repaired", field->repaired);
  return field;
}

std::vector<scored_fibre> read_own_share(const session& s, const std::string& scores, fibre_counts& counts) {
  std::vector<scored_fibre> accepted;
  s.agree([&] {
    const result_reader reader(scores);
    const auto ranks = static_cast<std::uint64_t>(s.size()), rank = static_cast<std::uint64_t>(s.rank());
    const std::uint64_t fibres = reader.item_voxels().size();
    const std::uint64_t first = fibres * rank / ranks;
    accepted = accepted_fibres(reader, first, fibres * (rank + 1) / ranks - first, counts);
  });
  for (std::vector<std::uint64_t>* list : {&counts.verdicts, &counts.stops}) {
    const std::vector<std::uint64_t> all = s.all_gather(*list);
    std::fill(list->begin(), list->end(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) (*list)[i % list->size()] += all[i];
  }
  return accepted;
}

}  // namespace

exit_status run_passes(session& s, geodesic_inputs& inputs, const run_settings& how, const device& d) {
  const device_hooks hooks = hooks_for(d);
  if (is_whole_already(s, "geodesic", how, hooks)) {
    spdlog::info("{} is whole already; nothing to do", how.out);
    return exit_status::whole;
  }
  nodes_of(inputs);  // refuses matrices that are too large before there is work to lose
  auto start = clock::now();
  const auto field = prepare(s, inputs, d);
  s.note_stage("field prepared");
  nlohmann::json also{{"preparation_seconds", seconds_since(start)}, {"preparation_device_seconds", field->seconds}};

  const run_settings step = step_settings(how, "scores");
  start = clock::now();
  {
    scoring scores(inputs, *field);
    const exit_status status = run(s, scores, step, hooks);
    if (status != exit_status::whole || how.dry_run) return status;
  }
  also["scores_seconds"] = seconds_since(start);
  s.note_stage("scores: step ended");

  start = clock::now();
  fibre_counts counts;
  const std::vector<scored_fibre> own = read_own_share(s, step.out, counts);
  s.note_stage("scores read");
  const connections found = rank_connections(s, inputs, *field, own);
  s.note_stage("fibres ranked");
  also["ranking_seconds"] = seconds_since(start);
  also.update(counts_as_json(counts));
  log_counts(counts);
  if (found.winners.size() != found.candidates)
    spdlog::info("{} of {} accepted fibres are written", found.winners.size(), found.candidates);

  run_settings last = how;
  last.label = "fibres";
  last.also_in_summary = also;
  winners chosen(inputs, *field, found);
  const exit_status status = run(s, chosen, last, hooks);
  if (status == exit_status::whole) s.on_root([&] { std::filesystem::remove(step.out); });
  return status;
}

}  // namespace voxherd
