#include "src/app/program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/command_line.hpp"
#include "core/current_failure.hpp"
#include "core/error_output.hpp"
#include "core/help.hpp"
#include "core/own_program.hpp"
#include "core/program_build.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "core/unexpected_exit.hpp"
#include "mpi/comm/launcher.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/output_options.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

namespace {

struct ending {
  exit_status status = exit_status::complete;
  std::string message;  ///< message of a failure; empty for none
};

constexpr const char* log_pattern = "voxherd: %l: %v";

/// Each message is one line, whatever the names in it contain. Those of a command that replaces another program are in
/// the words that were typed.
class message_formatter final : public spdlog::formatter {
 public:
  explicit message_formatter(const command* c = nullptr, std::vector<std::string> words = {})
      : command_(c), words_(std::move(words)), pattern_(log_pattern) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    std::string text(message.payload.data(), message.payload.size());
    if (command_ != nullptr) text = command_->retell(text, words_);
    text = one_line(text);
    spdlog::details::log_msg told = message;
    told.payload = text;
    pattern_.format(told, to);
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<message_formatter>(command_, words_);
  }

 private:
  const command* command_;  ///< null for messages as they are
  std::vector<std::string> words_;
  spdlog::pattern_formatter pattern_;
};

/// Callers of FSL's programs take any word on standard error for a failure: there the log goes to standard output.
void set_up_log(const session& s, bool is_replacement) {
  spdlog::set_default_logger(is_replacement ? spdlog::stdout_color_st("voxherd") : spdlog::stderr_color_st("voxherd"));
  spdlog::set_formatter(std::make_unique<message_formatter>());
  spdlog::set_level(s.is_root() ? spdlog::level::info : spdlog::level::err);
}

/// The format of the help that the words ask for; nothing where they ask for none. Words for another command, such as
/// the value of --more, ask for none of this one.
std::optional<help_format> find_help_format(const std::vector<std::string>& words) {
  constexpr std::string_view with_format = "--help=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (i > 0 && (words[i - 1] == "--more" || words[i - 1].ends_with("-options"))) continue;
    if (word == "--help" || word == "-h") return help_format::text;
    if (word == "--help-all") return help_format::all;
    if (word.starts_with(with_format)) return parse_help_format(word.substr(with_format.size()));
  }
  return std::nullopt;
}

/// What the program is called for.
struct program_parts {
  std::span<const command* const> commands;
  bool is_replacement = false;  ///< it was called by the name of another program
};

/// FSL's programs print their help on standard error, where callers look for it.
void print_help(const session& s, const program_parts& program, const std::string& text) {
  if (s.is_root()) fmt::print(program.is_replacement ? stderr : stdout, "{}", text);
}

/// The ranks that a command line needs. Help, versions and unknown commands need the first.
needed_ranks find_needed_ranks(const program_parts& program, const std::vector<std::string>& words) {
  const auto& commands = program.commands;
  const auto named = std::find_if(commands.begin(), commands.end(),
                                  [&](const command* c) { return !words.empty() && c->name == words[0]; });
  if (named == commands.end()) return needed_ranks::first;
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (std::find(rest.begin(), rest.end(), "--version") != rest.end()) return needed_ranks::first;
  try {
    if (find_help_format(rest)) return needed_ranks::first;
  } catch (const failure&) {  // a wrong format of help, which the first rank reports
    return needed_ranks::first;
  }
  return (*named)->ranks == nullptr ? needed_ranks::all : (*named)->ranks(rest);
}

exit_status run_command(session& s, const program_parts& program, const command& c,
                        const std::vector<std::string>& words) {
  const given_options given = parse_command_line(c, words);
  const auto prepared = c.prepare(given);
  s.on_root([&] { check_output_options(c, given); });
  // From here on, so that a signal is not lost while inputs are read or between two steps.
  std::optional<stop_signals> signals;
  if (makes_result(c)) signals.emplace();
  run_request* const run = prepared->run_options();
  limit_teams(s, run == nullptr ? 0 : run->threads);
  if (run != nullptr && program.is_replacement) run->quiet = true;  // no progress line on standard error
  if (run != nullptr && run->backend != backend_choice::cpu) wake_gpu();
  return prepared->run(s);
}

exit_status dispatch(session& s, const program_parts& program, const std::vector<std::string>& words) {
  const std::span<const command* const> commands = program.commands;
  const std::string first = words.empty() ? "--help" : words.front();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  const bool asks_version = std::find(rest.begin(), rest.end(), "--version") != rest.end();
  if (first == "--version" || first == "version" || asks_version) {
    if (s.is_root()) fmt::print("{}\n", asks_version ? program_name(version, "") : program_name());
    return exit_status::complete;
  }
  if (first == "--completion") {
    const std::string text = completion_script(commands, rest.empty() ? "" : rest.front());
    if (s.is_root()) fmt::print("{}", text);
    return exit_status::complete;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    const std::string text = rest.empty() ? help_text(commands) : help_text(find_command(commands, rest.front()));
    if (s.is_root()) fmt::print("{}", text);
    return words.empty() ? exit_status::usage : exit_status::complete;
  }
  if (first == "--help=man") {
    if (s.is_root()) fmt::print("{}", manual_page(commands));
    return exit_status::complete;
  }
  const command& c = find_command(commands, first);
  if (const auto format = find_help_format(rest)) {
    print_help(s, program, help_text(c, *format));
    return exit_status::complete;
  }
  if (std::error_code gone; (void)std::filesystem::current_path(gone), gone)
    refuse_missing("the current folder: {}; change to a folder that exists", gone.message());
  // Before the first kernel: an illegal instruction would end the program without a message.
  if (const std::string why = why_kernels_cannot_run(); !why.empty()) refuse_usage(why);
  if (c.retell == nullptr) return run_command(s, program, c, rest);
  spdlog::set_formatter(std::make_unique<message_formatter>(&c, rest));
  try {
    return run_command(s, program, c, rest);
  } catch (const failure& f) {
    throw failure(f.status, c.retell(f.what(), rest));
  }
}

constexpr auto cannot_print = "standard output cannot be written";

/// Writes what is still in memory. What was printed may be all that a command made, so that losing it is a failure.
void finish_output() {
  if (std::fflush(stdout) != 0) fail_on_disk(errno, cannot_print);
  if (std::ferror(stdout) != 0) fail_on_disk("{}: a part of it is missing", cannot_print);
}

exit_status dispatch_and_print(session& s, const program_parts& program, const std::vector<std::string>& words) {
  try {
    const exit_status status = dispatch(s, program, words);
    finish_output();
    return status;
  } catch (const std::system_error& e) {  // fmt::print throws it
    if (std::ferror(stdout) == 0) throw;
    fail_on_disk(e.code().value(), cannot_print);
  }
}

/// A missing standard output is replaced by one that refuses every word. Otherwise the next file opened, perhaps the
/// result, would be the standard output.
void reserve_output() {
  if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return;
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0 || file == STDOUT_FILENO) return;
  dup2(file, STDOUT_FILENO);
  close(file);
}

ending attempt(session& s, const program_parts& program, const std::vector<std::string>& words) {
  try {
    return {dispatch_and_print(s, program, words), ""};
  } catch (...) {
    const failure f = current_failure();
    return {f.status, f.what()};
  }
}

void print(const ending& e) {
  if (!e.message.empty()) print_error(e.message);
  std::fflush(nullptr);
}

/// Buffers of an image's size use memory again that others have left. From the system they come with a page fault for
/// every 4 kB. The sizes are those that glibc reaches by itself after the first large buffer is freed.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int largest_kept_bytes = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_kept_bytes);
  mallopt(M_TRIM_THRESHOLD, 2 * largest_kept_bytes);
#endif
}

/// Whether this process may compute on a GPU; `info` and `doctor` look at all of them. `cohort` and `bids` run
/// their subjects here.
bool may_compute(std::span<const command* const> commands, std::string_view name) {
  const auto named = std::find_if(commands.begin(), commands.end(), [&](const command* c) { return c->name == name; });
  if (named == commands.end()) return false;
  const auto& options = (*named)->options();
  return name == "cohort" || name == "bids" ||
         std::any_of(options.begin(), options.end(), [](const auto& o) { return o.name == "backend"; });
}

/// One message and one status for all ranks.
int leave_together(const session& s, const ending& own) {
  const auto all = s.agree_on_ending(own.status, !own.message.empty(), 10, [&] { print(own); });
  if (all.reports) print(own);
  return static_cast<int>(all.status);
}

int run_session(int argc, char** argv, const program_parts& program, const std::vector<std::string>& words,
                needed_ranks needed) {
  session s(&argc, &argv, needed);
  const unexpected_exit guard(
      unexpected_exit::calls::exit, exit_status::internal_error,
      "a library has ended the program, its message is above; if it could not start a thread: " + thread_limits_text());
  set_up_log(s, program.is_replacement);
  confirm_own_gpu(s);
  const int status = leave_together(s, attempt(s, program, words));
  await_woken_gpu();
  return status;
}

}  // namespace

int run_program(int argc, char** argv, std::span<const command* const> commands, std::string_view build) {
  note_program_start(argc, argv);
  set_program_build(build);
  keep_freed_memory();
  reserve_output();
  use_hdf5_without_file_locks();  // an environment variable: before MPI starts threads
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const command* const replaced = argc > 0 ? find_replaced(commands, argv[0]) : nullptr;
  if (replaced != nullptr) {
    if (const std::string word = implied_word(*replaced, argv[0]); !word.empty()) words.insert(words.begin(), word);
    words.insert(words.begin(), replaced->name);
  }
  const program_parts program{commands, replaced != nullptr};
  const needed_ranks needed = find_needed_ranks(program, words);
  if (needed == needed_ranks::first && is_later_rank(environment_variable)) return 0;
  if (!words.empty() && may_compute(commands, words.front())) show_only_own_gpu();
  try {
    return run_session(argc, argv, program, words, needed);
  } catch (const failure& f) {  // MPI cannot start
    print({f.status, f.what()});
    return static_cast<int>(f.status);
  }
}

}  // namespace voxherd
