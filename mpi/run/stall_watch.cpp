#include "mpi/run/stall_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/clock.hpp"
#include "core/error_output.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "core/unexpected_exit.hpp"
#include "mpi/comm/stop_wait.hpp"

namespace voxherd {

namespace {

constexpr std::array<const char*, 3> words{"reading", "computing", "writing"};
constexpr std::size_t max_described = 16;

double minutes_since(double at) { return (steady_seconds() - at) / 60; }

}  // namespace

stall_watch::stall_watch(const session& s, double minutes, std::vector<std::string> hosts, std::string part)
    : minutes_(minutes),
      hosts_(std::move(hosts)),
      part_(std::move(part)),
      batches_(hosts_.size()),
      progress_at_(steady_seconds()) {
  if (s.is_root())
    thread_ = start_thread("watches the run", [this](const std::stop_token& stop) { wait_for_stall(stop); });
}

void stall_watch::stored_in(const std::string& part) {
  const std::lock_guard lock(mutex_);
  part_ = part;
}

void stall_watch::note(int rank, batch_activity activity, std::uint64_t batch) {
  const std::lock_guard lock(mutex_);
  batches_[static_cast<std::size_t>(rank)][batch] = {activity, steady_seconds()};
}

void stall_watch::note_finished(int rank, std::uint64_t batch) {
  const std::lock_guard lock(mutex_);
  batches_[static_cast<std::size_t>(rank)].erase(batch);
  reset();
}

void stall_watch::note_progress() {
  const std::lock_guard lock(mutex_);
  reset();
}

void stall_watch::reset() {
  progress_at_ = steady_seconds();
  idle_seconds_ = 0;
}

void stall_watch::wait_for_stall(const std::stop_token& stop) {
  const double longest = 60 * minutes_, piece = std::min(1.0, longest / 20);
  while (true) {
    const double before = steady_seconds();
    if (stopped_within(stop, piece)) return;
    const std::lock_guard lock(mutex_);
    // A process that was stopped (SIGSTOP, a suspended job) is not blamed for it.
    idle_seconds_ += std::min(steady_seconds() - before, 2 * piece);
    if (idle_seconds_ >= longest) end_run();
  }
}

void stall_watch::end_run() const {
  print_error(describe());
  // The main thread may hold locks of MPI or HDF5: nothing is finalized, as after `kill -9`.
  end_process(exit_status::interrupted);
}

std::string stall_watch::describe() const {
  std::string text =
      fmt::format("no batch was finished for {:.3g} min (--stall-minutes): ", minutes_since(progress_at_));
  std::size_t described = 0, waiting = 0, others = 0;
  for (std::size_t r = 0; r < batches_.size(); ++r) {
    if (batches_[r].empty()) {
      ++waiting;
    } else if (described < max_described) {
      ++described;
      text += describe(static_cast<int>(r), batches_[r]) + "; ";
    } else {
      ++others;
    }
  }
  if (others > 0) text += fmt::format("{} more ranks have unfinished batches; ", others);
  if (waiting > 0) text += fmt::format("{} of {} ranks are waiting; ", waiting, batches_.size());
  if (part_.empty())
    return text + "no batch of this step has been stored; the same command with --resume starts it again";
  return text + fmt::format("finished batches are in {}; the same command with --resume continues", part_);
}

/// The main thread may be stuck in reading or writing one batch while another is computed.
std::string stall_watch::describe(int rank, const std::map<std::uint64_t, started>& batches) const {
  const auto oldest = std::min_element(batches.begin(), batches.end(), [](const auto& one, const auto& other) {
    const bool computes = one.second.activity == batch_activity::computing;
    const bool other_computes = other.second.activity == batch_activity::computing;
    return computes != other_computes ? other_computes : one.second.at < other.second.at;
  });
  return fmt::format("rank {} (host {}) has been {} batch {} for {:.3g} min", rank,
                     hosts_[static_cast<std::size_t>(rank)], words[static_cast<std::size_t>(oldest->second.activity)],
                     oldest->first, minutes_since(oldest->second.at));
}

}  // namespace voxherd
