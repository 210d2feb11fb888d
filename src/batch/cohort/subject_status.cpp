#include "src/batch/cohort/subject_status.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "core/command_line.hpp"
#include "core/current_failure.hpp"
#include "core/failure.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/common/run_options.hpp"
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
    } catch (const std::exception&) {
      s.detail = current_failure().what();  // not a result, e.g. the .part of a table
    }
  }
  return false;
}

/// The options of the command line that made a result. Its words have no quotes; none if they cannot be read.
given_options read_command_line(const result_reader& result, const command& what) {
  std::istringstream line(result.provenance().value("command_line", ""));
  std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
  words.erase(words.begin(), words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(words)));  // "voxherd tensor"
  try {
    return parse_command_line(what, words);
  } catch (const failure&) {
    return {};
  }
}

bool exist(const std::vector<std::string>& files) {
  return std::all_of(files.begin(), files.end(), [](const std::string& file) {
    std::error_code none;
    return fs::exists(file, none);
  });
}

/// Whether an input of a result no longer exists.
bool has_lost_inputs(const result_reader& result) {
  const nlohmann::json inputs = result.provenance().value("inputs", nlohmann::json::object());
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const nlohmann::json& input) { return input.is_object() && !exist(list_input_files(input)); });
}

/// Whether a result lists the file among its inputs.
bool is_listed(const std::string& path, const nlohmann::json& inputs) {
  std::error_code none;
  const fs::path normal = fs::absolute(path, none).lexically_normal();
  for (const nlohmann::json& input : inputs)
    if (input.is_object())
      for (const std::string& file : list_input_files(input))
        if (fs::path(file).lexically_normal() == normal) return true;
  return false;
}

/// The values of an option as they were typed, for messages.
std::string typed_values(const given_options& given, const std::string& name) {
  const auto found = given.values.find(name);
  if (found == given.values.end()) return "not given";
  return found->second.empty() ? "given" : fmt::format("{}", fmt::join(found->second, " "));
}

std::string find_other_option(const result_reader& result, const subject_command& command,
                              const prepared_command& prepared) {
  nlohmann::json now = nlohmann::json::object();
  prepared.add_stored(now);
  const nlohmann::json nothing, &stored = result.configuration();
  const auto value = [&](const nlohmann::json& all, const std::string& name) {
    return all.contains(name) ? all.at(name) : nothing;
  };
  const given_options before = read_command_line(result, command.what);
  for (const option_spec& spec : command.what.options()) {
    const bool was = before.has(spec.name), is = command.given.has(spec.name);
    // Options that were not given may have values that were found in the data.
    if (spec.type == option_type::file || run_options().find(spec.name) != nullptr || (!was && !is)) continue;
    if (spec.stored) {
      const auto other = first_difference(value(stored, spec.name), value(now, spec.name), spec.name);
      if (other) return *other;
      continue;
    }
    const std::string one = typed_values(before, spec.name), other = typed_values(command.given, spec.name);
    if (one != other) return fmt::format("{}: {} in the file, {} now", spec.name, one, other);
  }
  return "";
}

/// An input that is another file than the result's, or has another content.
std::string find_other_input(const result_reader& result, const subject_command& command) {
  const nlohmann::json inputs = result.provenance().value("inputs", nlohmann::json::object());
  const given_options before = read_command_line(result, command.what);
  for (const option_spec& spec : command.what.options()) {
    if (spec.type != option_type::file || run_options().find(spec.name) != nullptr || spec.place > 0) continue;
    if (before.has(spec.name) != command.given.has(spec.name))
      return fmt::format("{}: {} in the file, {} now", spec.name, typed_values(before, spec.name),
                         typed_values(command.given, spec.name));
    if (!command.given.has(spec.name)) continue;
    for (const std::string& path : command.given.values.at(spec.name))
      if (std::error_code none; !fs::exists(path, none) && !is_listed(path, inputs))
        return fmt::format("{} {} does not exist, and is not an input of this result", spec.label(), path);
  }
  for (const auto& [name, input] : inputs.items()) {
    const std::vector<std::string> files = input.is_object() ? list_input_files(input) : std::vector<std::string>();
    if (files.empty() || !exist(files)) continue;
    if (const std::string change = describe_change(input); !change.empty())
      return fmt::format("inputs.{}: {}", name, change);
  }
  return "";
}

/// For a command that cannot be asked, because inputs no longer exist: the first option or input that differs, as far
/// as they are known; "" if there is none.
std::string compare_without_inputs(const result_reader& result, const subject_command& command,
                                   const prepared_command& prepared) {
  const std::string option = find_other_option(result, command, prepared);
  return option.empty() ? find_other_input(result, command) : option;
}

void add_detail(subject_status& s, const std::string& text) { s.detail += (s.detail.empty() ? "" : "; ") + text; }

/// Whether nothing is left to do. Throws failure (usage) if the result is that of another command than the subject's,
/// and what the command throws if it refuses its inputs.
bool check_origin(const result_reader& result, const cohort_subject& subject, const std::vector<std::string>& more,
                  subject_status& s) {
  if (subject.words.empty()) return true;
  const subject_command command = parse_subject(subject, more);
  const std::unique_ptr<prepared_command> prepared = prepare_subject(subject, more);
  study_answer answer;
  try {
    answer = ask_command(*prepared);
  } catch (const failure& f) {
    if (f.status != exit_status::missing_input || !has_lost_inputs(result)) throw;
    answer.difference = compare_without_inputs(result, command, *prepared);
    if (answer.difference.empty()) add_detail(s, fmt::format("only its options are compared: {}", f.what()));
  }
  if (!answer.difference.empty()) answer_with_difference(result.path(), answer.difference);
  add_detail(s, answer.unfinished);
  return answer.unfinished.empty();
}

void read_complete(subject_status& s, const cohort_subject& subject, const std::vector<std::string>& more) {
  const result_reader result(s.out);
  if (!result.complete()) refuse_data("{} is incomplete although it has its final name; remove it", s.out);
  const bool is_complete = check_origin(result, subject, more, s);
  s.spent = read_cost(result);
  s.state = is_complete ? subject_state::complete : subject_state::partial;
  s.resubmit = !is_complete;
  s.done = 1;
}

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
    } catch (const std::exception&) {
      const failure f = current_failure();
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
