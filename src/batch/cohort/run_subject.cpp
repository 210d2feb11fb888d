#include "src/batch/cohort/run_subject.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/command_line.hpp"
#include "core/current_failure.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/text.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/output_options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/batch/cohort/child_process.hpp"
#include "src/batch/cohort/cost.hpp"
#include "src/io/output_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

std::string note_path(const std::string& out) { return out + ".task.json"; }

void write_note(const std::string& out, const task_note& note) {
  const nlohmann::json j{{"ended", note.ended},       {"status", note.status},
                         {"message", note.message},   {"command_line", note.command_line},
                         {"begun_at", note.begun_at}, {"host", note.host},
                         {"ranks", note.ranks},       {"job", note.job}};
  // A message may quote any bytes of a file.
  write_output({"the note of a subject:", note_path(out), true, file_name::implied}, dump_json(j, 2) + '\n');
}

std::optional<task_note> read_note(const std::string& out) {
  if (!std::filesystem::exists(note_path(out))) return std::nullopt;
  try {
    const nlohmann::json j = parse_json(read_text_file(note_path(out)), note_path(out));
    task_note note;
    note.ended = j.at("ended").get<bool>();
    note.status = j.at("status").get<int>();
    note.message = j.at("message").get<std::string>();
    note.command_line = j.at("command_line").get<std::string>();
    note.begun_at = j.at("begun_at").get<std::string>();
    note.host = j.at("host").get<std::string>();
    note.ranks = j.at("ranks").get<int>();
    note.job = j.at("job").get<std::string>();
    return note;
  } catch (const std::exception&) {  // not a note
    return std::nullopt;
  }
}

std::string slurm_job_name() {
  const auto value = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  const std::string array = value("SLURM_ARRAY_JOB_ID"), task = value("SLURM_ARRAY_TASK_ID"),
                    job = value("SLURM_JOB_ID");
  if (!array.empty() && !task.empty()) return fmt::format("SLURM job {}_{}", array, task);
  return job.empty() ? "" : "SLURM job " + job;
}

namespace {

namespace fs = std::filesystem;

task_note begin_note(const session& s, const cohort_subject& subject, const std::vector<std::string>& more) {
  task_note note;
  note.command_line = "voxherd";
  for (const auto* words : {&subject.words, &more})
    for (const std::string& word : *words) note.command_line += ' ' + quoted_word(word);
  note.begun_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                              fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  note.host = s.host();
  note.ranks = s.size();
  note.job = slurm_job_name();
  return note;
}

/// Never throws: the error of the run itself is more important.
void end_note(const std::string& out, task_note note, exit_status status, const std::string& message) {
  note.ended = true;
  note.status = static_cast<int>(status);
  note.message = message;
  try {
    write_note(out, note);
  } catch (const std::exception& e) {
    spdlog::warn("{}", e.what());
  }
}

const command& find_analysis(const cohort_subject& subject) {
  const command& what = find_command(all_commands(), subject.words.front());
  if (makes_result(what)) return what;
  refuse_usage("`{}` does not write a result; expected a command such as tensor or ballstick", what.name);
}

}  // namespace

subject_command parse_subject(const cohort_subject& subject, const std::vector<std::string>& more) {
  const command& what = find_analysis(subject);
  std::vector<std::string> words(subject.words.begin() + 1, subject.words.end());
  words.insert(words.end(), more.begin(), more.end());
  return {what, parse_command_line(what, words)};
}

std::unique_ptr<prepared_command> prepare_subject(const cohort_subject& subject, const std::vector<std::string>& more) {
  try {
    const subject_command parsed = parse_subject(subject, more);
    return parsed.what.prepare(parsed.given);
  } catch (const failure& f) {
    const std::string place =
        subject.line == 0 ? subject.name : fmt::format("line {} of the manifest ({})", subject.line, subject.name);
    throw failure(f.status, fmt::format("{}: {}", place, f.what()));
  }
}

std::vector<kept_file> list_subject_files(const cohort_subject& subject, const std::vector<std::string>& more) {
  std::vector<kept_file> files = list_result_files(fmt::format("the result of {}", subject.name), subject.out);
  for (const std::string& path : {log_path(subject.out), cost_path(subject.out)})
    files.push_back({path, fmt::format("a file of the result of {}", subject.name)});
  try {
    const subject_command parsed = parse_subject(subject, more);
    for (kept_file& file : list_kept_files(parsed.what, parsed.given)) {
      file.role += fmt::format(" of {}", subject.name);
      files.push_back(std::move(file));
    }
  } catch (const failure&) {  // the table shows it
  }
  return files;
}

namespace {

/// Raises the level of the log while it exists.
class log_limit {
 public:
  explicit log_limit(subject_log log) : before_(spdlog::get_level()) {
    const auto level = log == subject_log::errors     ? spdlog::level::err
                       : log == subject_log::warnings ? spdlog::level::warn
                                                      : before_;
    spdlog::set_level(std::max(level, before_));
  }
  ~log_limit() { spdlog::set_level(before_); }
  log_limit(const log_limit&) = delete;
  log_limit& operator=(const log_limit&) = delete;

 private:
  spdlog::level::level_enum before_;
};

}  // namespace

exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more,
                        subject_log log) {
  const stop_signals signals;  // a command that is run directly has them too
  follow_parent();
  const std::string& out = subject.out;
  const task_note note = begin_note(s, subject, more);
  s.on_root([&] {
    create_folder(fs::path(out).parent_path().string());
    write_note(out, note);
  });
  run_listener listener;
  listener.abort = [&](const failure& f) { end_note(out, note, f.status, f.what()); };
  listener.resumes_by_itself = true;
  try {
    const auto prepared = prepare_subject(subject, more);
    prepared->run_options()->listener = &listener;
    s.on_root([&] {
      const subject_command parsed = parse_subject(subject, more);
      check_output_options(parsed.what, parsed.given);
    });
    if (s.is_root()) spdlog::info("subject {}: {}", subject.name, note.command_line);
    const exit_status status = [&] {
      const log_limit limit(log);
      return prepared->run(s);
    }();
    if (s.is_root() && status == exit_status::complete) fs::remove(note_path(out));
    if (s.is_root() && status != exit_status::complete) end_note(out, note, status, "");
    return status;
  } catch (...) {
    const failure f = current_failure();
    if (s.is_root()) end_note(out, note, f.status, f.what());
    throw;
  }
}

}  // namespace voxherd
