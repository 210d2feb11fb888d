#include "src/batch/cohort/cost.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/device_choice.hpp"
#include "core/json_text.hpp"
#include "mpi/result/named_output.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

/// CPU threads of each rank that started the run; 0 if it has a GPU.
std::vector<double> rank_threads(const nlohmann::json& provenance) {
  std::vector<double> threads;
  for (const auto& device : provenance.value("devices", nlohmann::json::array()))
    threads.push_back(device_from_json(device).threads);
  return threads;
}

/// Adds the cost of `seconds` on one rank.
void add_cost(cost& c, double seconds, double threads) {
  (threads > 0 ? c.core_hours : c.gpu_hours) += seconds / 3600 * std::max(1.0, threads);
}

/// Wall time of all runs that contributed to the result.
double wall_seconds(const nlohmann::json& summary) {
  const double batches = summary.at("all").at("batches").get<double>();  // the last run's batches
  const double earlier = summary.value("resumed_batches", 0.0);
  double seconds = summary.at("seconds").get<double>() * (batches > 0 ? (batches + earlier) / batches : 1);
  for (const auto& [name, step] : summary.value("steps", nlohmann::json::object()).items()) {
    if (step.is_object() && step.contains("all")) seconds += wall_seconds(step);
  }
  return seconds;
}

/// Two threads drive a GPU and share it: the times of their batches overlap.
constexpr double lanes_per_gpu = 2;

cost finished_batches_cost(const result_reader& result, const std::vector<double>& threads) {
  cost c;
  for (const journal_entry& e : result.journal()) {
    if (e.done != 1) continue;
    const double own = threads[e.rank % threads.size()], seconds = static_cast<double>(e.microseconds) * 1e-6;
    add_cost(c, own > 0 ? seconds : seconds / lanes_per_gpu, own);
  }
  return c;
}

}  // namespace

cost& cost::operator+=(const cost& more) {
  gpu_hours += more.gpu_hours;
  core_hours += more.core_hours;
  energy_wh += more.energy_wh;
  metered_gpu_hours += more.metered_gpu_hours;
  busy_gpu_hours += more.busy_gpu_hours;
  return *this;
}

cost operator*(cost c, double factor) {
  for (double* part : {&c.gpu_hours, &c.core_hours, &c.energy_wh, &c.metered_gpu_hours, &c.busy_gpu_hours})
    *part *= factor;
  return c;
}

std::string cost_text(const cost& c) {
  std::string text = fmt::format("{:.4g} GPU hours", c.gpu_hours);
  if (c.metered_gpu_hours > 0) text += fmt::format(" ({:.1f} % busy)", 100 * c.busy_gpu_hours / c.metered_gpu_hours);
  text += fmt::format(", {:.4g} CPU core hours", c.core_hours);
  if (c.energy_wh > 0) text += fmt::format(", {:.4g} Wh", c.energy_wh);
  return text;
}

cost read_cost(const result_reader& result) {
  const std::vector<double> threads = rank_threads(result.provenance());
  if (threads.empty()) return {};
  const nlohmann::json& summary = result.summary();
  if (!result.complete() || !summary.is_object()) return finished_batches_cost(result, threads);
  // The last run may have had a different number of ranks than the first: assume the same proportion of each kind.
  const double each = summary.value("rank_count", 1.0) / static_cast<double>(threads.size());
  cost c;
  for (const double own : threads) add_cost(c, each * wall_seconds(summary), own);
  return c;
}

std::string cost_path(const std::string& out) { return out + ".cost.json"; }

std::optional<cost> read_cost_record(const std::string& out) {
  if (!std::filesystem::exists(cost_path(out))) return std::nullopt;
  try {
    return parse_json(read_text_file(cost_path(out)), cost_path(out)).get<cost>();
  } catch (const std::exception&) {  // not a record
    return std::nullopt;
  }
}

void write_cost_record(const std::string& out, const cost& spent) {
  try {
    write_output({"the cost of a subject:", cost_path(out), true, file_name::implied},
                 dump_json(nlohmann::json(spent), 2) + '\n');
  } catch (const std::exception& e) {
    spdlog::warn("{}", e.what());
  }
}

}  // namespace voxherd
