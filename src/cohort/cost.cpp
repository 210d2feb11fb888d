#include "src/cohort/cost.hpp"

#include <algorithm>
#include <cstdlib>

namespace voxherd {

namespace {

/// CPU threads of all ranks together, from descriptions such as "8 CPU threads".
double threads_of(const nlohmann::json& provenance) {
  double threads = 0;
  for (const auto& device : provenance.value("devices", nlohmann::json::array()))
    if (device.is_string()) threads += std::atof(device.get<std::string>().c_str());
  return threads;
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

double journal_seconds(const result_reader& result, bool on_gpu) {
  double seconds = 0;
  for (const journal_entry& e : result.journal())
    seconds += e.done == 1 ? static_cast<double>(e.microseconds) * 1e-6 : 0;
  // Two threads drive a GPU, and each one's batches wait for the other's.
  return on_gpu ? seconds / 2 : seconds;
}

}  // namespace

cost cost_of(const result_reader& result) {
  const bool on_gpu = result.configuration().value("backend", "") == "cuda";
  const nlohmann::json& summary = result.summary();
  const double ranks = summary.is_object() ? summary.value("rank_count", 1.0)
                                           : static_cast<double>(result.provenance().value("ranks", 1));
  const double rank_hours =
      (result.complete() && summary.is_object() ? wall_seconds(summary) * ranks : journal_seconds(result, on_gpu)) /
      3600;
  cost c;
  if (on_gpu) {
    c.gpu_hours = rank_hours;
  } else {
    const double begun_with = std::max(1.0, result.provenance().value("ranks", 1.0));
    c.core_hours = rank_hours * std::max(1.0, threads_of(result.provenance()) / begun_with);
  }
  return c;
}

}  // namespace voxherd
