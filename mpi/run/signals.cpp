#include "mpi/run/signals.hpp"

#include <array>
#include <csignal>
#include <cstddef>

#include "core/text.hpp"

namespace voxherd {

namespace {

constexpr std::array<int, 3> signals{SIGTERM, SIGINT, SIGUSR1};
volatile std::sig_atomic_t note = 0;
int depth = 0;
bool installed = false;
std::array<struct sigaction, 3> before{};
bool resumes_by_itself = false;

void take_note(int signal) { note = signal; }

}  // namespace

stop_signals::stop_signals() {
  if (depth++ > 0) return;
  note = 0;
  struct sigaction action {};
  action.sa_handler = take_note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before[i]);
  installed = true;
}

stop_signals::~stop_signals() {
  if (--depth == 0) release();
}

void stop_signals::release() {
  if (!installed) return;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before[i], nullptr);
  installed = false;
}

int stop_signals::received() { return depth > 0 ? static_cast<int>(note) : 0; }

const char* signal_name(int signal) { return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGUSR1"; }

const char* how_to_continue() {
  return resumes_by_itself ? "the same command continues" : "the same command with --resume continues";
}

void set_resumes_by_itself() { resumes_by_itself = true; }

void print_stopping(int signal, stored_batches stored) {
  print_error_output(
      "voxherd: stopping on signal {}; {}, {}\n", signal_name(signal),
      stored == stored_batches::all ? "finished batches are kept" : "no batch of this step is stored yet",
      how_to_continue());
}

}  // namespace voxherd
