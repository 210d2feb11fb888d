#include "src/tools/cohort/task_note.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/failure.hpp"

namespace voxherd {

std::string note_path(const std::string& out) { return out + ".task.json"; }

void write_note(const std::string& out, const task_note& note) {
  const nlohmann::json j{{"ended", note.ended},       {"status", note.status},
                         {"message", note.message},   {"command_line", note.command_line},
                         {"begun_at", note.begun_at}, {"host", note.host},
                         {"ranks", note.ranks},       {"job", note.job}};
  const std::string path = note_path(out), unfinished = fmt::format("{}.{}.new", path, getpid());
  std::ofstream file(unfinished);
  // A message may quote any bytes of a file.
  file << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (file && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
  const int why = errno;
  std::remove(unfinished.c_str());
  throw failure(exit_status::disk, fmt::format("{}: {}", path, std::strerror(why)));
}

std::optional<task_note> read_note(const std::string& out) {
  std::ifstream file(note_path(out));
  if (!file) return std::nullopt;
  try {
    const nlohmann::json j = nlohmann::json::parse(file);
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
  } catch (const nlohmann::json::exception&) {
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

}  // namespace voxherd
