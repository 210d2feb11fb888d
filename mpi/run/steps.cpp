#include "mpi/run/steps.hpp"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <utility>

#include "core/clock.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/run_outputs.hpp"

namespace voxherd {

namespace {

run_settings step_settings(const run_settings& settings, const std::string& name, const std::string& file,
                           bool is_kept) {
  run_settings step = settings;
  step.out = file;
  step.label = name;
  step.is_step = !is_kept;
  step.json.clear();
  if (!settings.trace.empty()) step.trace = settings.trace + "." + name;
  return step;
}

/// As a step's run checks its trace, but before the first step.
void check_trace(const run_settings& step, const std::string& out, const nlohmann::json& provenance) {
  if (step.resume && std::filesystem::exists(step.out)) return;  // complete: it writes no trace
  check_run_outputs(step, provenance);
  check_not_a_result("--trace", step.trace, "--out", out);
}

/// The later steps work on this one's results, which a dry run does not have.
void log_not_estimated(const std::vector<std::string>& later) {
  if (!later.empty()) spdlog::info("not included in this estimate: the steps that follow ({})", fmt::join(later, ", "));
}

}  // namespace

void step_list::work(const std::string& name, std::function<void(json_values&)> what) {
  step s;
  s.name = name;
  s.work = std::move(what);
  steps_.push_back(std::move(s));
}

void step_list::run(const std::string& name, maker make, reader after) {
  run_into("", "", name, std::move(make), std::move(after));
}

void step_list::run_into(const std::string& file, const std::string& analysis, const std::string& name, maker make,
                         reader after) {
  step s;
  s.name = name;
  s.make = std::move(make);
  s.kept_file = file;
  s.analysis = analysis;
  s.after = std::move(after);
  steps_.push_back(std::move(s));
}

void step_list::result(const std::string& name, maker make) {
  run(name, std::move(make));
  steps_.back().is_last = true;
}

void step_list::known_result(const std::string& name, std::function<voxherd::known_result()> what) {
  step s;
  s.name = name;
  s.known = std::move(what);
  s.is_last = true;
  steps_.push_back(std::move(s));
}

exit_status run_steps(const session& s, const std::string& analysis, const step_list& steps,
                      const run_settings& settings, const device_hooks& device) {
  const auto settings_of = [&](const step_list::step& step) {
    const bool is_kept = !step.kept_file.empty();
    return step_settings(settings, step.name, is_kept ? step.kept_file : settings.out + "." + step.name, is_kept);
  };
  const auto remaining_names = [&](const step_list::step& step) {
    std::vector<std::string> names;
    for (const step_list::step* later = &step + 1; later <= &steps.steps_.back(); ++later) names.push_back(later->name);
    return names;
  };
  const auto remove_intermediate_files = [&] {
    s.on_root([&] {
      for (const step_list::step& step : steps.steps_) {
        if (!step.make || step.is_last || !step.kept_file.empty()) continue;
        std::filesystem::remove(settings_of(step).out);
        remove_leftovers(settings_of(step).out);
      }
    });
  };
  if (is_already_complete(s, analysis, settings, device)) {
    log_nothing_to_do(settings);
    if (!settings.dry_run) {
      remove_intermediate_files();
      s.on_root([&] { remove_leftovers(settings.out); });
    }
    return exit_status::complete;
  }
  // Errors about the user's files are reported before any work is done.
  for (const step_list::step& step : steps.steps_)
    if (!step.kept_file.empty()) (void)is_already_complete(s, step.analysis, settings_of(step), device);
  s.on_root([&] {
    check_run_outputs(settings, settings.provenance);
    for (const step_list::step& step : steps.steps_)
      if (step.make && !step.is_last) check_trace(settings_of(step), settings.out, settings.provenance);
  });

  nlohmann::json summary = nlohmann::json::object();
  for (const step_list::step& step : steps.steps_) {
    const double start = steady_seconds();
    if (step.work) {
      step.work(summary);
      s.note_stage(step.name + " done");
    } else {
      run_settings how = step.is_last ? settings : settings_of(step);
      how.label = step.name;
      if (step.is_last) how.also_in_summary = summary;
      const std::unique_ptr<voxherd::analysis> computed = step.make ? step.make() : nullptr;
      const exit_status status = step.make ? run(s, *computed, how, device) : write_known(s, step.known(), how, device);
      if (settings.dry_run) log_not_estimated(remaining_names(step));
      if (status != exit_status::complete || settings.dry_run) return status;
      if (step.after) step.after(how.out, summary);
      s.note_stage(step.name + ": step ended");
    }
    summary[step.name + "_seconds"] = steady_seconds() - start;
  }
  remove_intermediate_files();
  return exit_status::complete;
}

}  // namespace voxherd
