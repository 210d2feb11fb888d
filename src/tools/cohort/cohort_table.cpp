#include "src/tools/cohort/cohort_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/shell_words.hpp"

namespace voxherd {

namespace {

constexpr std::array<const char*, 5> states{"complete", "running", "partial", "failed", "not started"};

std::size_t count_in_state(const std::vector<subject_status>& all, const std::string& state) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const subject_status& s) { return s.state == state; }));
}

/// Rounded down: 99.6 % is not 100 % yet.
std::string percent(double fraction) { return fmt::format("{:.0f} %", std::floor(fraction * 100)); }

template <class Wanted>
std::vector<std::size_t> tasks_where(const std::vector<subject_status>& all, Wanted wanted) {
  std::vector<std::size_t> tasks;
  for (const subject_status& s : all)
    if (wanted(s)) tasks.push_back(s.task);
  return tasks;
}

std::string counts_text(const std::vector<subject_status>& all) {
  std::string text = fmt::format("{} subject{}:", all.size(), all.size() == 1 ? "" : "s");
  const char* comma = " ";
  for (const char* state : states) {
    const std::size_t count = count_in_state(all, state);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", comma, count, state);
    comma = ", ";
  }
  return text + '\n';
}

cost sum_costs(const std::vector<subject_status>& all) {
  cost sum;
  for (const subject_status& s : all) sum += s.spent;
  return sum;
}

/// Of each kind of cost, if the cohort has any of it.
struct cost_column {
  const char* name;
  double cost::*part;
};
constexpr cost_column cost_columns[] = {
    {"GPU h", &cost::gpu_hours}, {"core h", &cost::core_hours}, {"Wh", &cost::energy_wh}};

std::string cost_heading(const cost& sum) {
  std::string text;
  for (const cost_column& column : cost_columns)
    if (sum.*column.part > 0) text += fmt::format("{:>9}  ", column.name);
  return text;
}

std::string cost_cells(const cost& spent, const cost& sum) {
  std::string text;
  for (const cost_column& column : cost_columns)
    if (sum.*column.part > 0) text += fmt::format("{:>9.4g}  ", spent.*column.part);
  return text;
}

/// Of complete subjects that used GPUs.
std::string rate_text(const std::vector<subject_status>& all) {
  double count = 0, gpu_hours = 0;
  for (const subject_status& s : all) {
    if (s.state != "complete" || s.spent.gpu_hours <= 0) continue;
    ++count;
    gpu_hours += s.spent.gpu_hours;
  }
  return count > 0 ? fmt::format("; {:.4g} subjects per GPU hour", count / gpu_hours) : "";
}

}  // namespace

std::string array_list(const std::vector<std::size_t>& tasks) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < tasks.size(); i = last + 1) {
    for (last = i; last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1;) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", tasks[i]);
    if (last > i) text += fmt::format("-{}", tasks[last]);
  }
  return text;
}

std::vector<std::size_t> tasks_to_submit(const std::vector<subject_status>& all) {
  return tasks_where(all, [](const subject_status& s) { return s.resubmit; });
}

std::vector<std::size_t> tasks_to_repair(const std::vector<subject_status>& all) {
  return tasks_where(all, [](const subject_status& s) { return s.state == "failed" && !s.resubmit; });
}

std::string cohort_text(const std::string& script_words, const std::vector<subject_status>& all) {
  std::size_t width = 7;
  for (const subject_status& s : all) width = std::max(width, s.name.size());
  const cost spent = sum_costs(all);
  std::string text = fmt::format("{:>5}  {:<{}}  {:<11}  {}{:>5}  {}\n", "task", "subject", width, "status",
                                 cost_heading(spent), "done", "detail");
  for (const subject_status& s : all) {
    const std::string code = s.exit_status != 0 ? fmt::format("status {}: ", s.exit_status) : "";
    std::string line = fmt::format("{:>5}  {:<{}}  {:<11}  {}{:>5}  {}{}", s.task, s.name, width, s.state,
                                   cost_cells(s.spent, spent), percent(s.done), code, s.detail);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  text += counts_text(all);
  text += fmt::format("so far {}{}\n", cost_text(spent), rate_text(all));
  const auto submit = tasks_to_submit(all), repair = tasks_to_repair(all);
  if (!submit.empty())
    text += fmt::format("to submit: sbatch --array={} slurm/cohort.sbatch {}\n", array_list(submit), script_words);
  if (!repair.empty())
    text += fmt::format("to repair first (they would fail again as they are): --array={}\n", array_list(repair));
  return text;
}

nlohmann::json cohort_json(const std::string& manifest, const std::vector<subject_status>& all) {
  nlohmann::json j{{"manifest", manifest}, {"subjects", nlohmann::json::array()}};
  for (const subject_status& s : all) j["subjects"].push_back(as_json(s));
  for (const char* state : states) j["counts"][state] = count_in_state(all, state);
  j.update(sum_costs(all));
  j["resubmit"] = array_list(tasks_to_submit(all));
  j["repair"] = array_list(tasks_to_repair(all));
  return j;
}

}  // namespace voxherd
