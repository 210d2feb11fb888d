#include "src/tools/cohort/run_subject.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>

#include "core/command_line.hpp"
#include "core/shell_words.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/output_options.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/tools/cohort/child_process.hpp"
#include "src/tools/cohort/task_note.hpp"

namespace voxherd {

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

}  // namespace

namespace {

const command& find_analysis(const cohort_subject& subject) {
  const command& what = find_command(all_commands(), subject.words.front());
  if (makes_result(what)) return what;
  throw failure(exit_status::usage,
                fmt::format("`{}` does not write a result; expected a command such as tensor or ballstick", what.name));
}

given_options parse_subject(const command& what, const cohort_subject& subject, const std::vector<std::string>& more) {
  std::vector<std::string> words(subject.words.begin() + 1, subject.words.end());
  words.insert(words.end(), more.begin(), more.end());
  return parse_command_line(what, words);
}

}  // namespace

std::unique_ptr<prepared_command> prepare_subject(const cohort_subject& subject, const std::vector<std::string>& more) {
  try {
    const command& what = find_analysis(subject);
    return what.prepare(parse_subject(what, subject, more));
  } catch (const failure& f) {
    const std::string place =
        subject.line == 0 ? subject.name : fmt::format("line {} of the manifest ({})", subject.line, subject.name);
    throw failure(f.status, fmt::format("{}: {}", place, f.what()));
  }
}

void create_folder_for(const std::string& out) {
  const fs::path folder = fs::path(out).parent_path();
  std::error_code code;
  if (!folder.empty()) fs::create_directories(folder, code);
  if (code)
    throw failure(exit_status::disk, fmt::format("{}: cannot create the folder: {}", folder.string(), code.message()));
}

exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more) {
  const stop_signals signals;  // as for a command that is run directly
  follow_parent();
  const std::string& out = subject.out;
  const task_note note = begin_note(s, subject, more);
  s.on_root([&] {
    create_folder_for(out);
    write_note(out, note);
  });
  const run_listener listener{nullptr, [&](const failure& f) { end_note(out, note, f.status, f.what()); }, false};
  set_resumes_by_itself();
  try {
    const auto prepared = prepare_subject(subject, more);
    prepared->run_options()->listener = &listener;
    s.on_root([&] {
      const command& what = find_analysis(subject);
      check_output_options(what, parse_subject(what, subject, more));
    });
    if (s.is_root()) spdlog::info("subject {}: {}", subject.name, note.command_line);
    const exit_status status = prepared->run(s);
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
