#include "src/tools/cohort/cost.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/device_record.hpp"

namespace voxherd {

namespace {

/// CPU threads of each rank that started the run; 0 if it has a GPU.
std::vector<double> threads_of_ranks(const nlohmann::json& provenance) {
  std::vector<double> threads;
  for (const auto& device : provenance.value("devices", nlohmann::json::array()))
    threads.push_back(device_from_json(device).threads);
  return threads;
}

/// Of so many seconds of one rank.
void add(cost& c, double seconds, double threads) {
  (threads > 0 ? c.core_hours : c.gpu_hours) += seconds / 3600 * std::max(1.0, threads);
}

/// Seconds that every rank was there for, over all the runs that it took.
double wall_seconds(const nlohmann::json& summary) {
  const double batches = summary.at("all").at("batches").get<double>();  // of the last run
  const double earlier = summary.value("resumed_batches", 0.0);
  double seconds = summary.at("seconds").get<double>() * (batches > 0 ? (batches + earlier) / batches : 1);
  for (const auto& [name, step] : summary.value("steps", nlohmann::json::object()).items()) {
    if (step.is_object() && step.contains("all")) seconds += wall_seconds(step);
  }
  return seconds;
}

/// Two threads drive a GPU, and each one's batches wait for the other's.
constexpr double lanes_of_gpu = 2;

cost cost_of_finished_batches(const result_reader& result, const std::vector<double>& threads) {
  cost c;
  for (const journal_entry& e : result.journal()) {
    if (e.done != 1) continue;
    const double own = threads[e.rank % threads.size()], seconds = static_cast<double>(e.microseconds) * 1e-6;
    add(c, own > 0 ? seconds : seconds / lanes_of_gpu, own);
  }
  return c;
}

}  // namespace

cost cost_of(const result_reader& result) {
  const std::vector<double> threads = threads_of_ranks(result.provenance());
  if (threads.empty()) return {};
  const nlohmann::json& summary = result.summary();
  if (!result.complete() || !summary.is_object()) return cost_of_finished_batches(result, threads);
  // The run that ended it may have had other ranks than the one that began it: as many of each kind, in proportion.
  const double each = summary.value("rank_count", 1.0) / static_cast<double>(threads.size());
  cost c;
  for (const double own : threads) add(c, each * wall_seconds(summary), own);
  return c;
}

}  // namespace voxherd
