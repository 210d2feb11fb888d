#include "src/tools/bids/participant.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <set>

#include "mpi/run/signals.hpp"
#include "src/tools/bids/derivatives.hpp"
#include "src/tools/cohort/run_subject.hpp"
#include "src/tools/cohort/task_note.hpp"

namespace voxherd {

namespace {

/// Whether an earlier call noted a failure. A failure during the computation ends all ranks, so such series come last.
bool has_failed_before(const bids_request& request, const dwi_files& series) {
  return std::any_of(request.analyses.begin(), request.analyses.end(), [&](const std::string& analysis) {
    const auto note = read_note(result_path(request, series, analysis));
    return note && note->status != static_cast<int>(exit_status::interrupted);
  });
}

/// Rank 0's order for all ranks.
void move_failed_to_end(session& s, const bids_request& request, std::vector<dwi_files>& all) {
  nlohmann::json order;
  s.on_root([&] {
    std::stable_partition(all.begin(), all.end(),
                          [&](const dwi_files& series) { return !has_failed_before(request, series); });
    order = all;
  });
  s.broadcast(order);
  all = order.get<std::vector<dwi_files>>();
}

/// Finds wrong options before anything is computed.
void check_options(const bids_request& request, const std::vector<dwi_files>& all,
                   const std::vector<std::string>& more) {
  std::set<std::string> checked;  // one series of each kind
  for (const dwi_files& series : all) {
    if (checked.contains(series.datatype)) continue;
    std::vector<bids_step> steps;
    try {
      steps = plan_steps(request, series);
    } catch (const failure&) {
      continue;  // reported with this series
    }
    for (const bids_step& step : steps) (void)prepare_subject(step.run, more);
    checked.insert(series.datatype);
  }
}

exit_status run_series(session& s, const bids_request& request, const dwi_files& series,
                       const std::vector<std::string>& more) {
  for (const bids_step& step : plan_steps(request, series)) {
    const exit_status status = run_subject(s, step.run, more);
    if (status != exit_status::complete) return status;
    write_derivatives(s, request, series, step);
    if (s.is_root()) spdlog::info("{}: derivatives of {} are in {}", series.name, step.analysis, request.out_dir);
  }
  return exit_status::complete;
}

struct failed_series {
  std::string name;
  failure why;
};

void report_failures(const std::vector<failed_series>& failed, std::size_t all) {
  if (failed.empty()) return;
  std::string names;
  for (const failed_series& f : failed) names += (names.empty() ? "" : ", ") + f.name;
  throw failure(
      failed.front().why.status,
      fmt::format("{} of {} series failed: {} (messages above); the derivatives of the others are complete; repair "
                  "and repeat the command",
                  failed.size(), all, names));
}

}  // namespace

exit_status run_participants(session& s, const bids_request& request, std::vector<dwi_files> all) {
  const stop_signals signals;
  const std::vector<std::string> more = common_words(request, s.node_size());
  check_options(request, all, more);
  move_failed_to_end(s, request, all);
  std::vector<failed_series> failed;
  exit_status status = exit_status::complete;
  for (const dwi_files& series : all) {
    try {
      status = run_series(s, request, series, more);
    } catch (const failure& f) {
      if (s.is_root()) spdlog::error("{}: {}", series.name, f.what());
      failed.push_back({series.name, f});
      if (request.stop_on_first_crash) break;
    }
    if (status != exit_status::complete) break;
  }
  std::sort(all.begin(), all.end(), [](const dwi_files& a, const dwi_files& b) { return a.name < b.name; });
  s.on_root([&] { write_citation(request, all); });
  report_failures(failed, all.size());
  return status;
}

}  // namespace voxherd
