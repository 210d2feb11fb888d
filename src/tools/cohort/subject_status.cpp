#include "src/tools/cohort/subject_status.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/failure.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/tools/cohort/cost_record.hpp"
#include "src/tools/cohort/task_note.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Unfinished results that belong to `out`: OUT.part and those of a command's steps, OUT.scores.part. The latest first:
/// a step that has ended may leave its file.
std::vector<fs::path> find_unfinished(const std::string& out) {
  std::vector<fs::path> found;
  const fs::path parent = fs::path(out).parent_path();
  const std::string begin = fs::path(out).filename().string() + ".", end = ".part";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent.empty() ? "." : parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() < begin.size() + 4 || name.compare(0, begin.size(), begin) != 0) continue;
    if (name.compare(name.size() - end.size(), end.size(), end) == 0) found.push_back(entry.path());
  }
  const auto written = [](const fs::path& path) {
    std::error_code none;
    return fs::last_write_time(path, none);
  };
  std::sort(found.begin(), found.end(), [&](const fs::path& one, const fs::path& other) {
    return std::pair(written(other), one) < std::pair(written(one), other);
  });
  return found;
}

/// Fraction of the file's items that are in finished batches, 0 to 1.
double fraction_done(const result_reader& result) {
  double done = 0;
  for (const batch& b : result.batches())
    if (result.journal()[b.number].done == 1) done += static_cast<double>(b.item_count);
  return done / std::max(1.0, static_cast<double>(result.item_voxels().size()));
}

/// "scores" for OUT.scores.part, "" for OUT.part.
std::string step_name(const fs::path& part, const std::string& out) {
  const std::string name = part.filename().string();
  const std::size_t out_size = fs::path(out).filename().string().size();
  return name.size() <= out_size + 6 ? "" : name.substr(out_size + 1, name.size() - out_size - 6);
}

/// Reads the progress of an unfinished result; false if there is no readable one.
bool read_unfinished(subject_status& s, const std::string& out) {
  for (const fs::path& part : find_unfinished(out)) {
    try {
      const result_reader result(part.string());
      s.done = fraction_done(result);
      s.spent = read_cost(result);
      const std::string step = step_name(part, out);
      if (!step.empty()) s.detail = fmt::format("in step {}", step);
      return true;
    } catch (const failure& f) {
      s.detail = f.what();  // not a result, e.g. the .part of a table
    }
  }
  return false;
}

void read_complete(subject_status& s) {
  const result_reader result(s.out);
  if (!result.complete())
    throw failure(exit_status::bad_data,
                  fmt::format("{} is incomplete although it has its final name; remove it", s.out));
  s.spent = read_cost(result);
  s.state = "complete";
  s.done = 1;
}

void add_detail(subject_status& s, const std::string& text) { s.detail += (s.detail.empty() ? "" : "; ") + text; }

std::string died_text(const task_note& note) {
  return fmt::format("ended without a message on {}{} (killed, out of memory or node failure?); started {}", note.host,
                     note.job.empty() ? "" : ", " + note.job, note.begun_at);
}

/// Sets the state of a subject that is neither complete nor running.
void set_unfinished_state(subject_status& s, bool has_part, const std::optional<task_note>& note) {
  const bool stopped = note && note->ended && note->status == static_cast<int>(exit_status::interrupted);
  const bool died = note && !note->ended;
  s.resubmit = true;
  if (note && note->ended && !stopped) {
    s.state = "failed";
    s.exit_status = note->status;
    s.detail = note->message;
    // The same inputs and options would fail again; a full disk or a lost GPU may be repaired.
    s.resubmit = note->status == static_cast<int>(exit_status::disk) ||
                 note->status == static_cast<int>(exit_status::device_error);
  } else if (has_part) {
    s.state = "partial";
    if (died) add_detail(s, died_text(*note));
  } else if (died) {
    s.state = "failed";
    s.detail = died_text(*note);
  } else {
    s.state = "not started";
    s.detail = stopped ? "stopped before the first batch" : "";
  }
}

/// Where the result will be. The subject's run reports links that cannot be followed.
std::string target_of_links(const std::string& out) {
  try {
    return follow_links(out);
  } catch (const failure&) {
    return out;
  }
}

subject_status find_state(const cohort_subject& subject) {
  subject_status s;
  s.task = subject.task;
  s.name = subject.name;
  s.out = subject.out;
  std::error_code ignored;
  if (fs::exists(s.out, ignored)) {
    try {
      read_complete(s);
    } catch (const failure& f) {
      s.state = "failed";
      s.exit_status = static_cast<int>(f.status);
      s.detail = f.what();
    }
    return s;
  }
  const std::optional<task_note> note = read_note(s.out);
  const std::string file = target_of_links(s.out);
  const bool has_part = read_unfinished(s, file);
  if (!has_part) s.detail.clear();
  if (is_being_written(file)) {
    s.state = "running";
    if (note && !note->job.empty()) add_detail(s, note->job);
    return s;
  }
  set_unfinished_state(s, has_part, note);
  return s;
}

}  // namespace

subject_status find_status(const cohort_subject& subject) {
  subject_status s = find_state(subject);
  // Measured, with shared GPUs, and of all runs: better than what the result says of itself.
  if (const auto recorded = read_cost_record(s.out)) s.spent = *recorded;
  return s;
}

nlohmann::json as_json(const subject_status& s) {
  return {{"task", s.task},
          {"subject", s.name},
          {"out", s.out},
          {"state", s.state},
          {"done", s.done},
          {"detail", s.detail},
          {"exit_status", s.exit_status},
          {"resubmit", s.resubmit},
          {"gpu_hours", s.spent.gpu_hours},
          {"core_hours", s.spent.core_hours},
          {"energy_wh", s.spent.energy_wh},
          {"metered_gpu_hours", s.spent.metered_gpu_hours},
          {"busy_gpu_hours", s.spent.busy_gpu_hours}};
}

subject_status status_from_json(const nlohmann::json& j) {
  subject_status s;
  s.task = j.at("task").get<std::size_t>();
  s.name = j.at("subject").get<std::string>();
  s.out = j.at("out").get<std::string>();
  s.state = j.at("state").get<std::string>();
  s.done = j.at("done").get<double>();
  s.detail = j.at("detail").get<std::string>();
  s.exit_status = j.at("exit_status").get<int>();
  s.resubmit = j.at("resubmit").get<bool>();
  s.spent = j.get<cost>();
  return s;
}

}  // namespace voxherd
