#include "src/batch/bids/request.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "core/own_program.hpp"
#include "mpi/run/signals.hpp"
#include "src/batch/bids/own_files.hpp"
#include "src/batch/cohort/child_process.hpp"
#include "src/batch/cohort/cost.hpp"
#include "src/batch/cohort/run_all.hpp"
#include "src/batch/cohort/run_subject.hpp"
#include "src/batch/cohort/subject_status.hpp"
#include "src/commands/bids_export.hpp"
#include "src/io/output_file.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// The derivatives that a step was computed from, as URIs.
std::vector<std::string> sources_in_derivatives(const bids_series& series, const bids_step& step) {
  std::vector<std::string> uris;
  for (const char* name : find_views(step.analysis).bids.run.sources)
    if (name != nullptr) uris.push_back(fmt::format("bids::{}/{}_{}.nii.gz", series.folder, series.name, name));
  return uris;
}

/// Writes the derivatives of a complete step; files that were made from its result are kept. Collective.
void write_derivatives(session& s, const bids_request& request, const bids_series& series, const bids_step& step) {
  export_record record(methods_note(request, series, step.analysis), request.out_dir);
  s.on_root([&] {
    record.read();
    note_methods(record, series, step);
  });
  export_settings settings;
  settings.result = step.run.out;
  settings.out = request.out_dir;
  settings.overwrite = settings.quiet = true;
  settings.record = &record;
  settings.may_replace = is_own_or_new;
  settings.threads = export_threads(s, 0);
  settings.half_positions = request.half_positions;
  const bids_place place{series.folder, series.name, sources_in_derivatives(series, step), request.half_positions};
  export_bids_folder(s, settings, place);
  if (step.fibres.empty()) return;
  settings.result = step.fibres;
  export_bids_folder(s, settings, place);
}

/// Whether an earlier call noted a failure. A failure during the computation ends all ranks, so such series come last.
bool has_failed_before(const bids_request& request, const bids_series& series) {
  return std::any_of(request.analyses.begin(), request.analyses.end(), [&](const std::string& analysis) {
    const auto note = read_note(result_path(request, series, analysis));
    return note && note->status != static_cast<int>(exit_status::interrupted);
  });
}

std::vector<bids_series> with_failed_last(const bids_request& request, std::vector<bids_series> all) {
  std::stable_partition(all.begin(), all.end(),
                        [&](const bids_series& series) { return !has_failed_before(request, series); });
  return all;
}

/// Finds wrong options before anything is computed.
void check_options(const bids_request& request, const std::vector<bids_series>& all,
                   const std::vector<std::string>& more) {
  std::set<std::string> checked;  // one series of each kind
  for (const bids_series& series : all) {
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

/// Whether an analysis of the series itself reads the directions in the frame that was found for it.
bool uses_found_frame(const bids_request& request, const std::vector<bids_step>& steps) {
  const auto names_a_frame = [](const std::string& word) {
    return word == "--bvecs-frame" || word.starts_with("--bvecs-frame=");
  };
  return std::any_of(steps.begin(), steps.end(), [&](const bids_step& step) {
    const std::vector<std::string> words = user_words(request, step.analysis);
    return *find_views(step.analysis).bids.run.needs == 0 && std::none_of(words.begin(), words.end(), names_a_frame);
  });
}

exit_status run_series(session& s, const bids_request& request, const bids_series& series,
                       const std::vector<std::string>& more, subject_log log) {
  std::string analyses;
  const std::vector<bids_step> steps = plan_steps(request, series);
  if (!series.frame_reason.empty() && uses_found_frame(request, steps))
    s.on_root([&] { spdlog::info("{}: {}", series.name, series.frame_reason); });
  for (const bids_step& step : steps) {
    // What a complete result warned of is in its report.
    const bool was_complete = fs::exists(step.run.out);
    const exit_status status = run_subject(s, step.run, more, was_complete ? subject_log::errors : log);
    if (status != exit_status::complete) return status;
    write_derivatives(s, request, series, step);
    analyses += (analyses.empty() ? "" : ", ") + step.analysis + (was_complete ? " (already complete)" : "");
  }
  if (!analyses.empty())
    s.on_root([&] {
      update_subject_page(request, series.subject);
      spdlog::info("{}: derivatives of {} are in {}", series.name, analyses, request.out_dir);
    });
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

pool_settings find_places(const session& s, const bids_request& request, const std::vector<bids_series>& all,
                          const std::vector<std::string>& more) {
  const auto uses_gpu = [&](const bids_series& series) {
    try {
      return may_use_gpu(plan_steps(request, series).front().run, more);
    } catch (const failure&) {
      return false;  // reported with this series
    }
  };
  pool_settings settings =
      make_pool_settings(s, std::any_of(all.begin(), all.end(), uses_gpu), request.per_gpu, request.per_node);
  settings.stops_at_failure = request.stop_on_first_crash;
  return settings;
}

/// The words of this process without options that take one value.
std::vector<std::string> words_without(std::initializer_list<std::string_view> options) {
  std::vector<std::string> kept;
  const std::vector<std::string> words = from_bids_app(initial_words());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const bool is_option = word.starts_with("-");
    if (is_option && std::find(options.begin(), options.end(), name) != options.end()) {
      ++i;  // its value
    } else if (!is_option ||
               std::find(options.begin(), options.end(), name.substr(0, name.find('='))) == options.end()) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

/// This command for one series, with a share of the threads and of the memory.
std::vector<std::string> child_words(const bids_request& request, const bids_series& series, int threads,
                                     std::size_t places) {
  if (request.threads_of_all) threads = std::max(1, *request.threads_of_all / static_cast<int>(places));
  if (request.threads_per_rank) threads = *request.threads_per_rank;
  std::vector<std::string> words = words_without({"nprocs", "omp-nthreads", "mem", "series"});
  words.insert(words.end(), {"--series", series_id(series), "--omp-nthreads", std::to_string(threads)});
  if (request.memory_mb)
    words.insert(words.end(), {"--mem", fmt::format("{}", *request.memory_mb / static_cast<double>(places))});
  return words;
}

/// The average of its analyses, 0 to 1.
double fraction_done(const bids_request& request, const bids_series& series) {
  try {
    const std::vector<bids_step> steps = plan_steps(request, series);
    double sum = 0;
    for (const bids_step& step : steps) sum += find_status(step.run, {}).done;
    return sum / static_cast<double>(steps.size());
  } catch (const failure&) {
    return 0;  // its process reports it
  }
}

/// Whether its results and their notes are there. A process may end with status 0 without them, for example if it found
/// other series than this one did.
bool is_computed(const bids_request& request, const bids_series& series) {
  try {
    const std::vector<bids_step> steps = plan_steps(request, series);
    return std::all_of(steps.begin(), steps.end(), [&](const bids_step& step) {
      std::error_code ignored;
      return fs::exists(step.run.out, ignored) && fs::exists(methods_note(request, series, step.analysis), ignored);
    });
  } catch (const failure&) {
    return false;
  }
}

/// The names of the series for messages: with the datatype where a name alone would be that of two.
std::vector<std::string> shown_names(const std::vector<bids_series>& all) {
  std::vector<std::string> names;
  for (const bids_series& series : all) {
    const auto same =
        std::count_if(all.begin(), all.end(), [&](const bids_series& b) { return b.name == series.name; });
    names.push_back(same > 1 ? series_id(series) : series.name);
  }
  return names;
}

/// Each series in a process of its own, several at a time; its messages and cost are in the work folder.
exit_status run_children(const bids_request& request, const std::vector<bids_series>& all,
                         const pool_settings& settings) {
  std::vector<pool_job> jobs;
  const std::vector<std::string> names = shown_names(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bids_series& series = all[i];
    const std::string out = (std::filesystem::path(request.work_dir) / series.folder / series.name).string();
    jobs.push_back({names[i], out,
                    [out] {
                      return job_state{job_state::kind::to_compute, read_cost_record(out).value_or(cost{})};
                    },
                    [&](int threads) { return child_words(request, series, threads, settings.places.size()); },
                    [&] { return fraction_done(request, series); }, [&] { return is_computed(request, series); }});
  }
  const exit_status status = run_pool(jobs, settings);
  // Of two series of one subject that ended at the same time, the page may have only one.
  std::set<std::string> subjects;
  for (const bids_series& series : all) subjects.insert(series.subject);
  for (const std::string& subject : subjects) update_subject_page(request, subject);
  write_citation(request);
  return status;
}

}  // namespace

exit_status run_participants(session& s, const bids_request& request, std::vector<bids_series> all) {
  const stop_signals signals;
  const std::vector<std::string> more = common_words(request, s.node_size());
  check_options(request, all, more);
  s.on_root([&] { create_folder(request.out_dir + "/logs"); });
  if (s.size() == 1 && all.size() > 1) {
    const pool_settings settings = find_places(s, request, all, more);
    if (settings.places.size() > 1) return run_children(request, all, settings);
  }
  all = s.from_root([&] { return with_failed_last(request, all); });
  const subject_log log = all.size() > 1 ? subject_log::warnings : subject_log::everything;
  std::vector<failed_series> failed;
  exit_status status = exit_status::complete;
  for (const bids_series& series : all) {
    try {
      status = run_series(s, request, series, more, log);
    } catch (const failure& f) {
      if (s.is_root()) spdlog::error("{}: {}", series.name, f.what());
      failed.push_back({series.name, f});
      if (request.stop_on_first_crash) break;
    }
    if (status != exit_status::complete) break;
  }
  s.on_root([&] { write_citation(request); });
  report_failures(failed, all.size());
  return status;
}

}  // namespace voxherd
