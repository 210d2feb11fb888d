#include "src/batch/cohort/run_all.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "core/device.hpp"
#include "core/own_program.hpp"
#include "core/text.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/batch/cohort/child_process.hpp"
#include "src/batch/cohort/run_subject.hpp"
#include "src/scan/node_resources.hpp"

namespace voxherd {

namespace {

/// Whether the subject's command has --threads.
bool chooses_threads(const cohort_subject& subject, const std::vector<std::string>& more) {
  try {
    return prepare_subject(subject, more)->run_options()->threads > 0;
  } catch (const failure&) {
    return true;  // the child reports it
  }
}

std::vector<std::string> child_words(const cohort_run& wanted, const cohort_subject& subject, int threads) {
  std::vector<std::string> words{"cohort", "--manifest", wanted.manifest, "--run", std::to_string(subject.task)};
  if (!wanted.words_template.empty()) words.insert(words.end(), {"--template", wanted.words_template});
  std::vector<std::string> more = wanted.more;
  if (!chooses_threads(subject, wanted.more)) more.insert(more.end(), {"--threads", std::to_string(threads)});
  std::string joined;
  for (const std::string& word : more) joined += (joined.empty() ? "" : " ") + quoted_word(word);
  if (!joined.empty()) words.insert(words.end(), {"--more", joined});
  return words;
}

job_state inspect(const cohort_subject& subject, const std::vector<std::string>& more) {
  using kind = job_state::kind;
  const subject_status now = find_status(subject, more);
  // What has failed since the start of this process was computed by another one, which reports it.
  const kind what = now.state == subject_state::complete ? kind::complete
                    : now.resubmit                       ? kind::to_compute
                                                         : kind::computed_elsewhere;
  return {what, now.spent};
}

/// The subjects to compute, for process `first` of `count` in an order of its own: else all would try the same ones.
std::vector<cohort_subject> subjects_in_turn(const std::vector<cohort_subject>& subjects,
                                             const std::vector<subject_status>& statuses, int first, int count) {
  std::vector<cohort_subject> chosen;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    if (statuses[i].resubmit) chosen.push_back(subjects[i]);
  const std::size_t begin = chosen.size() * static_cast<std::size_t>(first) / static_cast<std::size_t>(count);
  std::rotate(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(begin), chosen.end());
  return chosen;
}

/// The GPUs that the launcher gave to this process.
std::vector<std::string> find_gpus() {
  if (!built_with_cuda()) return {};
  (void)show_all_gpus();
  const auto listed = find_variable(initial_environment(), "CUDA_VISIBLE_DEVICES");
  const int accessible = listed ? 0 : gpu_files.accessible("");
  return name_gpus(listed, listed || accessible > 0 ? accessible : static_cast<int>(visible_gpus().size()));
}

void check_one_per_node(const session& s) {
  const int most = s.all_reduce(reduction::max, s.node_size());
  if (most > 1)
    refuse_usage(
        "--run-all: {} processes on one node; it starts processes for the subjects itself: run it without mpirun, or "
        "with `srun --ntasks-per-node=1`",
        most);
}

/// Names the subjects that are not tried again. Returns the status of the first, 0 if there are none.
exit_status report_broken(const session& s, const std::vector<subject_status>& statuses) {
  exit_status first = exit_status::complete;
  for (const subject_status& status : statuses) {
    if (status.state != subject_state::failed || status.resubmit) continue;
    if (s.is_root())
      spdlog::error(
          "subject {} is not tried again: it failed with status {}: {}; repair it, then compute it with --run {}",
          status.name, status.exit_status, status.detail, status.task);
    if (first == exit_status::complete) first = static_cast<exit_status>(status.exit_status);
  }
  return first;
}

}  // namespace

pool_settings make_pool_settings(const session& s, bool may_use_gpus, std::size_t per_gpu, std::size_t per_node) {
  pool_settings settings;
  const int cores = node_cores(s).count();
  if (may_use_gpus) settings.gpus = find_gpus();
  settings.places =
      settings.gpus.empty() ? make_cpu_places(per_node, cores) : make_gpu_places(settings.gpus.size(), per_gpu, cores);
  if (s.size() > 1) settings.host = s.host();
  return settings;
}

bool may_use_gpu(const cohort_subject& subject, const std::vector<std::string>& more) {
  try {
    return prepare_subject(subject, more)->run_options()->backend != backend_choice::cpu;
  } catch (const failure&) {
    return false;
  }
}

exit_status run_all(session& s, const cohort_run& wanted, const std::vector<cohort_subject>& subjects,
                    const std::vector<subject_status>& statuses) {
  check_one_per_node(s);
  const stop_signals signals;
  spdlog::set_level(spdlog::level::info);  // every process reports its own subjects
  const exit_status before = report_broken(s, statuses);
  if (std::all_of(statuses.begin(), statuses.end(),
                  [](const auto& status) { return status.state == subject_state::complete; }) &&
      s.is_root())
    spdlog::info("all subjects are complete");
  const std::vector<cohort_subject> own = subjects_in_turn(subjects, statuses, s.rank(), s.size());
  const bool may_use_gpus =
      std::any_of(own.begin(), own.end(), [&](const cohort_subject& c) { return may_use_gpu(c, wanted.more); });
  const pool_settings settings = make_pool_settings(s, may_use_gpus, wanted.per_gpu, wanted.per_node);
  std::vector<pool_job> jobs;
  for (const cohort_subject& subject : own)
    jobs.push_back({subject.name, subject.out, [&] { return inspect(subject, wanted.more); },
                    [&](int threads) { return child_words(wanted, subject, threads); },
                    [&] { return find_status(subject, wanted.more).done; },
                    [out = subject.out] {
                      std::error_code ignored;
                      return std::filesystem::exists(out, ignored);
                    }});
  const exit_status status = jobs.empty() ? exit_status::complete : run_pool(jobs, settings);
  // Signals are still noted while this process waits for those of other nodes.
  const exit_status all = s.agree_on_ending(status, false, 0, [] {}).status;
  return all == exit_status::complete ? before : all;
}

}  // namespace voxherd
