#include "mpi/run/signals.hpp"

#include <unistd.h>

#include <cstddef>

#include "core/text.hpp"
#include "core/unexpected_exit.hpp"
#include "mpi/run/study_question.hpp"

namespace voxherd {

namespace {

constexpr std::array<int, 3> signals{SIGTERM, SIGINT, SIGUSR1};
constexpr int released = -1;
volatile std::sig_atomic_t note = 0;  ///< a signal, 0 or `released`; global, because a handler has no other arguments

void take_note(int signal) {
  if (note != released) {
    note = signal;
  } else {
    constexpr char text[] = "voxherd: stopping on a signal\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    end_process(exit_status::interrupted);
  }
}

bool is_installed() {
  struct sigaction now {};
  sigaction(signals.front(), nullptr, &now);
  return now.sa_handler == take_note;
}

}  // namespace

stop_signals::stop_signals() {
  if (!is_installed()) note = 0;
  struct sigaction action {};
  action.sa_handler = take_note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
}

stop_signals::~stop_signals() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  if (!is_installed()) note = 0;
}

void stop_signals::release() {
  if (!is_asked()) note = released;  // what asks may have something to save
}

int stop_signals::received() { return note == released ? 0 : static_cast<int>(note); }

const char* signal_name(int signal) { return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGUSR1"; }

continued_by continuation(const run_request& request) {
  const bool by_itself = request.listener != nullptr && request.listener->resumes_by_itself;
  return by_itself ? continued_by::same_command : continued_by::resume_option;
}

const char* how_to_continue(continued_by what) {
  return what == continued_by::same_command ? "the same command continues" : "the same command with --resume continues";
}

void print_stopping(int signal, continued_by what, stored_batches stored) {
  print_error_output(
      "voxherd: stopping on signal {}; {}, {}\n", signal_name(signal),
      stored == stored_batches::all ? "finished batches are kept" : "no batch of this step is stored yet",
      how_to_continue(what));
}

}  // namespace voxherd
