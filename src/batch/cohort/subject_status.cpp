#include "src/batch/cohort/subject_status.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "core/failure.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/batch/cohort/cost.hpp"
#include "src/batch/cohort/run_subject.hpp"
#include "src/io/fingerprint.hpp"

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

[[noreturn]] void refuse_origin(const std::string& out, const std::string& found, const std::string& expected) {
  throw failure(exit_status::usage, fmt::format("{} was computed {}, but the subject's command {}; choose another "
                                                "result file, or remove this one to compute it again",
                                                out, found, expected));
}

/// Whether the command line that made a result has the option. Its words are not quoted.
bool was_given(const std::string& line, const std::string& option) {
  return (line + ' ').find(" --" + option + ' ') != line.npos || line.find(" --" + option + '=') != line.npos;
}

/// `input`: as the result stores it. A file that was moved is the same if its content is.
bool is_same_input(const nlohmann::json& input, const std::string& path) {
  const std::string stored = input.value("path", "");
  if (is_same_file(stored, path)) return true;
  try {
    return input.contains("paths") || find_fingerprint(path).at("fingerprint") == input.value("fingerprint", "");
  } catch (const failure&) {
    return true;  // it cannot be read any more
  }
}

void check_inputs(const result_reader& result, const subject_command& command, const std::string& line) {
  const nlohmann::json inputs = result.provenance().value("inputs", nlohmann::json::object());
  for (const option_spec& spec : command.what.options()) {
    if (spec.type != option_type::file || !inputs.contains(spec.name)) continue;
    const nlohmann::json& input = inputs.at(spec.name);
    const auto given = command.given.values.find(spec.name);
    const bool is_given = given != command.given.values.end();
    if (!is_given && was_given(line, spec.name))
      refuse_origin(result.path(), fmt::format("with --{} {}", spec.name, input.value("path", "")), "has none");
    std::error_code ignored;
    if (!is_given || given->second.size() != 1 || !fs::is_regular_file(given->second.front(), ignored)) continue;
    const std::string& path = given->second.front();
    if (!input.contains("path")) refuse_origin(result.path(), "without --" + spec.name, "has --" + spec.name);
    if (!is_same_input(input, path))
      refuse_origin(result.path(), fmt::format("from --{} {}", spec.name, input.value("path", "")),
                    fmt::format("has --{} {}", spec.name, path));
  }
}

/// Whether an option's words give the stored value. Lists of numbers are not compared.
bool gives(const option_spec& spec, const std::vector<std::string>& words, const nlohmann::json& stored) {
  if (stored.is_boolean()) return stored.get<bool>() == !spec.takes_value();
  if (stored.is_array()) return stored.empty() || !stored.front().is_string() || stored == nlohmann::json(words);
  if (words.size() != 1) return false;
  if (stored.is_string()) return stored == words.front();
  char* end = nullptr;
  const double number = std::strtod(words.front().c_str(), &end);
  return *end == '\0' && static_cast<float>(number) == stored.get<float>();
}

void check_options(const result_reader& result, const subject_command& command, const std::string& line) {
  for (const option_spec& spec : command.what.options()) {
    const auto given = command.given.values.find(spec.name);
    const bool is_given = given != command.given.values.end();
    // Others have their defaults, which may depend on the inputs.
    if (!spec.stored || (!is_given && !was_given(line, spec.name))) continue;
    const auto stored = result.configuration().find(spec.name);
    if (stored == result.configuration().end()) continue;
    const std::vector<std::string> words = is_given ? given->second : std::vector{spec.standard};
    if ((is_given || spec.takes_value()) && gives(spec, words, *stored)) continue;
    refuse_origin(result.path(), fmt::format("with --{} {}", spec.name, stored->dump()),
                  is_given ? fmt::format("has --{} {}", spec.name, fmt::join(words, " ")) : "has none");
  }
}

/// Throws failure (usage) if the result is that of another command than the subject's.
void check_origin(const result_reader& result, const cohort_subject& subject, const std::vector<std::string>& more) {
  if (subject.words.empty()) return;
  const std::string line = result.provenance().value("command_line", "");
  std::istringstream words(line);
  std::string program, name;
  words >> program >> name;
  if (name != subject.words.front())
    refuse_origin(result.path(), fmt::format("by `{} {}`", program, name),
                  fmt::format("is `{}`", subject.words.front()));
  std::optional<subject_command> command;
  try {
    command.emplace(parse_subject(subject, more));
  } catch (const failure&) {
    return;  // options that no longer exist; the result is complete all the same
  }
  check_inputs(result, *command, line);
  // The others' words are those of other programs.
  if (command->what.translate == nullptr) check_options(result, *command, line);
}

void read_complete(subject_status& s, const cohort_subject& subject, const std::vector<std::string>& more) {
  const result_reader result(s.out);
  if (!result.complete())
    throw failure(exit_status::bad_data,
                  fmt::format("{} is incomplete although it has its final name; remove it", s.out));
  check_origin(result, subject, more);
  s.spent = read_cost(result);
  s.state = subject_state::complete;
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
    s.state = subject_state::failed;
    s.exit_status = note->status;
    s.detail = note->message;
    // The same inputs and options would fail again; a full disk or a lost GPU may be repaired.
    s.resubmit = note->status == static_cast<int>(exit_status::disk) ||
                 note->status == static_cast<int>(exit_status::device_error);
  } else if (has_part) {
    s.state = subject_state::partial;
    if (died) add_detail(s, died_text(*note));
  } else if (died) {
    s.state = subject_state::failed;
    s.detail = died_text(*note);
  } else {
    s.state = subject_state::not_started;
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

subject_status find_state(const cohort_subject& subject, const std::vector<std::string>& more) {
  subject_status s;
  s.task = subject.task;
  s.name = subject.name;
  s.out = subject.out;
  std::error_code ignored;
  if (fs::exists(s.out, ignored)) {
    try {
      read_complete(s, subject, more);
    } catch (const failure& f) {
      s.state = subject_state::failed;
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
    s.state = subject_state::running;
    if (note && !note->job.empty()) add_detail(s, note->job);
    return s;
  }
  set_unfinished_state(s, has_part, note);
  return s;
}

}  // namespace

subject_status find_status(const cohort_subject& subject, const std::vector<std::string>& more) {
  subject_status s = find_state(subject, more);
  // Measured, with shared GPUs, and of all runs: better than what the result says of itself.
  if (const auto recorded = read_cost_record(s.out)) s.spent = *recorded;
  return s;
}

nlohmann::json as_json(const subject_status& s) {
  return {{"task", s.task},
          {"subject", s.name},
          {"out", s.out},
          {"state", state_name(s.state)},
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
  const auto name = j.at("state").get<std::string>();
  for (std::size_t i = 0; i < std::size(subject_state_names); ++i)
    if (name == subject_state_names[i]) s.state = static_cast<subject_state>(i);
  s.done = j.at("done").get<double>();
  s.detail = j.at("detail").get<std::string>();
  s.exit_status = j.at("exit_status").get<int>();
  s.resubmit = j.at("resubmit").get<bool>();
  s.spent = j.get<cost>();
  return s;
}

}  // namespace voxherd
