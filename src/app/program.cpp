#include "src/app/program.hpp"

#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/version.hpp"
#include "mpi/comm/session.hpp"
#include "src/app/processor.hpp"

namespace voxherd {

namespace {

struct ending {
  exit_status status = exit_status::whole;
  std::string message;  ///< of a failure; empty for none
};

void set_up_log(const session& s) {
  spdlog::set_default_logger(spdlog::stderr_color_st("voxherd"));
  spdlog::set_pattern("voxherd: %l: %v");
  spdlog::set_level(s.is_root() ? spdlog::level::info : spdlog::level::err);
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

exit_status dispatch(session& s, std::span<const command* const> commands, const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "--help" : words.front();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  if (first == "--version") {
    if (s.is_root()) fmt::print("voxherd {}\n", version);
    return exit_status::whole;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    const std::string text = rest.empty() ? help_text(commands) : help_text(find_command(commands, rest.front()));
    if (s.is_root()) fmt::print("{}", text);
    return words.empty() ? exit_status::usage : exit_status::whole;
  }
  const command& c = find_command(commands, first);
  if (asks_for_help(rest)) {
    if (s.is_root()) fmt::print("{}", help_text(c));
    return exit_status::whole;
  }
  // Before the first kernel: an illegal instruction would end the program without a word.
  if (const std::string why = why_kernels_cannot_run(); !why.empty())
    throw failure(exit_status::usage, why);
  return c.run(s, parse_command_line(c, rest));
}

ending attempt(session& s, std::span<const command* const> commands, const std::vector<std::string>& words) {
  try {
    return {dispatch(s, commands, words), ""};
  } catch (const failure& f) {
    return {f.status, f.what()};
  } catch (const std::bad_alloc&) {
    return {exit_status::ours, "not enough memory"};
  } catch (const std::exception& e) {
    return {exit_status::ours, e.what()};
  }
}

void say(const ending& e) {
  if (!e.message.empty()) fmt::print(stderr, "voxherd: error: {}\n", e.message);
  std::fflush(nullptr);
}

/// One message and one status for all ranks. A rank that failed alone waits ten seconds for the others, which may be
/// waiting for it, then ends them.
int leave_together(const session& s, const ending& own) {
  const bool failed = !own.message.empty();
  std::array<int, 2> mine{-static_cast<int>(own.status), failed ? s.rank() : INT_MAX}, all{};
  MPI_Request request;
  MPI_Iallreduce(mine.data(), all.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
  const auto start = std::chrono::steady_clock::now();
  for (int done = 0; done == 0; usleep(500)) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && failed && std::chrono::steady_clock::now() - start > std::chrono::seconds(10)) {
      say(own);
      MPI_Abort(MPI_COMM_WORLD, static_cast<int>(own.status));
    }
  }
  if (all[1] == s.rank()) say(own);
  return -all[0];
}

}  // namespace

int run_program(int argc, char** argv, std::span<const command* const> commands) {
  session s(&argc, &argv);
  set_up_log(s);
  return leave_together(s, attempt(s, commands, {argv + 1, argv + argc}));
}

}  // namespace voxherd
