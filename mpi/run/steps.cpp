#include "mpi/run/steps.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/estimate.hpp"
#include "mpi/run/run_files.hpp"
#include "mpi/run/study.hpp"
#include "mpi/run/study_question.hpp"

namespace voxherd {

namespace {

/// The settings of a step but the last, which writes `file`.
run_settings step_settings(const run_settings& settings, const std::string& name, const std::string& option,
                           const std::string& file) {
  run_settings step = settings;
  step.out = file;
  step.out_option = option;
  step.json.clear();
  if (!settings.trace.empty()) step.trace = settings.trace + "." + name;
  step.is_trace_implied = true;
  return step;
}

std::string intermediate_file(const run_settings& settings, const std::string& step) {
  return settings.out + "." + step;
}

/// Whether an earlier job has completed this step, which is computed again because it leaves no complete file, and has
/// written its trace.
bool has_earlier_trace(const run_settings& step) {
  return step.resume && !step.trace.empty() && std::filesystem::exists(step.trace);
}

/// Makes the check that a step's run makes of its trace, but before the first step.
void check_trace(const run_settings& step, bool is_received, const std::string& out, const nlohmann::json& provenance) {
  if (step.resume && std::filesystem::exists(step.out)) return;  // complete: it writes no trace
  if (is_received && has_earlier_trace(step)) return;
  check_run_outputs(step, provenance);
  check_not_kept(trace_output(step), list_result_files("--out", out));
}

/// Throws failure (usage) if a file that a command with a complete result writes, too, is missing.
void check_exists(const std::string& option, const std::string& file, const std::string& out) {
  if (std::error_code none; std::filesystem::exists(file, none)) return;
  if (is_asked()) answer_with_difference(out, fmt::format("{} {} does not exist", option, file));
  refuse_usage("{} is complete, but {} {} does not exist; --overwrite computes both", out, option, file);
}

void print_estimate(const run_estimate& found, const run_settings& settings, const std::string& out) {
  if (settings.listener != nullptr && settings.listener->estimate) {
    settings.listener->estimate(found);
  } else {
    fmt::print("{}", estimate_text(found, out));
  }
}

}  // namespace

const step_list::added_step& step_list::added_step::describe(const std::string& item, predictor predict) const {
  step& s = list_.steps_[number_];
  s.item = item;
  s.predict = std::move(predict);
  return *this;
}

const step_list::added_step& step_list::added_step::collect(batch_receiver receive, double kept_bytes) const {
  step& s = list_.steps_[number_];
  s.receive = std::move(receive);
  s.kept_bytes = kept_bytes;
  return *this;
}

step_list::added_step step_list::add(step s) {
  steps_.push_back(std::move(s));
  return {*this, steps_.size() - 1};
}

step_list::added_step step_list::work(const std::string& name, std::function<void(json_values&)> what) {
  step s;
  s.name = name;
  s.work = std::move(what);
  return add(std::move(s));
}

step_list::added_step step_list::run(const std::string& name, maker make, reader after) {
  return run_into("--out", "", "", name, std::move(make), std::move(after));
}

step_list::added_step step_list::run_into(const std::string& option, const std::string& file,
                                          const std::string& analysis, const std::string& name, maker make,
                                          reader after) {
  step s;
  s.name = name;
  s.make = std::move(make);
  s.option = option;
  s.kept_file = follow_links(file);
  s.analysis = analysis;
  s.after = std::move(after);
  return add(std::move(s));
}

step_list::added_step step_list::result(const std::string& name, maker make) {
  const added_step last = run(name, std::move(make));
  steps_.back().is_last = true;
  return last;
}

void step_list::known_result(const std::string& name, std::function<voxherd::known_result()> what, known_size size) {
  step s;
  s.size = size;
  s.name = name;
  s.known = std::move(what);
  s.is_last = true;
  add(std::move(s));
}

run_estimate step_list::predict_after(const step& estimated, run_estimate found, const std::string& out) const {
  for (const step& each : steps_) found.kept_bytes += each.kept_bytes;
  if (!estimated.is_last) {
    found.result = out;
    found.root_bytes = steps_.back().size.memory_bytes;
    found.result_bytes = steps_.back().size.file_bytes;
  }
  for (const step* later = &estimated + 1; later <= &steps_.back(); ++later) {
    if (!later->predict) {
      found.not_estimated.push_back(later->name);
      continue;
    }
    found.later.push_back(later->predict(found));
    found.later.back().name = later->name;
    found.seconds += found.later.back().seconds;
  }
  return found;
}

void step_list::check_file_names(const run_settings& settings) const {
  std::vector<named_output> results{{"--out", settings.out}};
  std::vector<kept_file> temporary;
  for (const step& each : steps_) {
    if (each.is_kept()) results.push_back({each.option, each.kept_file});
    if (!each.is_intermediate()) continue;
    const std::string file = intermediate_file(settings, each.name);
    if (const auto foreign = find_foreign_file(file))
      refuse_usage(
          "{} exists and is no file of voxherd; --out {} needs this name for a temporary file; move it, or choose "
          "another --out",
          *foreign, settings.out);
    for (kept_file& path : list_result_files("--out", file)) {
      path.role = "a temporary file of --out";
      temporary.push_back(std::move(path));
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    check_not_kept(results[i], temporary);
    for (std::size_t j = 0; j < results.size(); ++j)
      if (j != i) check_not_kept(results[i], list_result_files(results[j].option, results[j].path));
    for (const named_output& text : {json_output(settings), trace_output(settings)}) {
      check_not_kept(text, list_result_files(results[i].option, results[i].path));
      check_not_kept(text, temporary);
    }
  }
}

exit_status run_steps(const session& s, const std::string& analysis, const step_list& steps,
                      const run_settings& settings, const device_hooks& device) {
  // Of two jobs with the same OUT, the first to end removes the files of steps: the second must not read them by then.
  std::unique_ptr<output_lock> lock;
  s.on_root([&] {
    if (settings.dry_run) return;
    check_output_folder(settings.out, 0, settings.out_option);
    lock = std::make_unique<output_lock>(settings.out);
  });
  const auto settings_of = [&](const step_list::step& step) {
    if (step.is_kept()) return step_settings(settings, step.name, step.option, step.kept_file);
    return step_settings(settings, step.name, "--out", intermediate_file(settings, step.name));
  };
  const auto remove_intermediate_files = [&] {
    s.on_root([&] {
      for (const step_list::step& step : steps.steps_) {
        if (!step.is_intermediate()) continue;
        const std::string file = intermediate_file(settings, step.name);
        if (find_foreign_file(file)) continue;
        std::filesystem::remove(file);
        remove_leftovers(file);
      }
    });
  };
  if (is_already_complete(s, analysis, settings, device)) {
    for (const step_list::step& step : steps.steps_) {
      if (!step.is_kept()) continue;
      s.on_root([&] { check_exists(step.option, step.kept_file, settings.out); });
      (void)is_already_complete(s, step.analysis, settings_of(step), device);
    }
    log_nothing_to_do(settings);
    if (!settings.dry_run) {
      remove_intermediate_files();
      lock.reset();
      s.on_root([&] { remove_leftovers(settings.out); });
    }
    return exit_status::complete;
  }
  // Errors about the user's files are reported before any work is done.
  s.on_root([&] { steps.check_file_names(settings); });
  for (const step_list::step& step : steps.steps_)
    if (step.is_kept()) (void)is_already_complete(s, step.analysis, settings_of(step), device);
  s.on_root([&] {
    check_run_outputs(settings, settings.provenance);
    for (const step_list::step& step : steps.steps_)
      if (step.make && !step.is_last)
        check_trace(settings_of(step), step.receive && !step.is_kept(), settings.out, settings.provenance);
  });

  nlohmann::json summary = nlohmann::json::object();
  std::vector<std::string> kept_files;
  bool has_run = false;
  for (const step_list::step& step : steps.steps_) {
    const double start = steady_seconds();
    if (step.work) {
      step.work(summary);
      s.note_stage(step.name + " done");
    } else {
      run_settings how = step.is_last ? settings : settings_of(step);
      const step_context context{.kind = step.is_last     ? step_kind::last
                                         : step.is_kept() ? step_kind::kept
                                                          : step_kind::intermediate,
                                 .label = step.name,
                                 .item = step.item,
                                 .is_later = std::exchange(has_run, true),
                                 .also_written = kept_files,
                                 .also_in_summary = step.is_last ? summary : nlohmann::json()};
      bool keeps_trace = false;
      s.on_root([&] { keeps_trace = step.receive && context.is_intermediate() && has_earlier_trace(how); });
      s.broadcast(keeps_trace);
      if (keeps_trace) how.trace.clear();
      run_listener dry;
      std::optional<run_estimate> estimated;  // on rank 0
      dry.estimate = [&](const run_estimate& found) { estimated = found; };
      if (settings.dry_run) how.listener = &dry;
      const std::unique_ptr<voxherd::analysis> computed = step.make ? step.make() : nullptr;
      const exit_status status = step.make ? run_step(s, *computed, how, device, context, step.receive)
                                           : write_known(s, step.known(), how, device, context);
      if (status != exit_status::complete) return status;
      bool ends_here = estimated.has_value() || (settings.dry_run && step.is_last);
      s.broadcast(ends_here);
      if (ends_here) {
        if (estimated) print_estimate(steps.predict_after(step, *estimated, settings.out), settings, how.out);
        return status;
      }
      if (step.after) step.after(how.out, summary);
      if (step.is_kept()) kept_files.push_back(step.kept_file);
      s.note_stage(step.name + ": step ended");
    }
    summary[step.name + "_seconds"] = steady_seconds() - start;
  }
  remove_intermediate_files();
  return exit_status::complete;
}

}  // namespace voxherd
