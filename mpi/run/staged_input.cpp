#include "mpi/run/staged_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <thread>

#include "core/failure.hpp"
#include "mpi/run/signals.hpp"

namespace voxherd {

namespace {

using steady = std::chrono::steady_clock;

/// A sleep leaves the core to the rank that reads the input; waiting in MPI would not.
constexpr std::chrono::milliseconds poll_interval{1}, message_interval{50};

/// A rank's part of a wait; the largest of all ranks counts.
struct wait_state {
  int not_ready = 1, failed = 0, signal = 0;
};

wait_state combine(const session& s, const wait_state& own) {
  std::array<int, 3> all{own.not_ready, own.failed, own.signal};
  s.all_reduce(reduction::max, std::span<int>(all));
  return {all[0], all[1], all[2]};
}

void throw_if_signal(int signal) {
  if (signal != 0)
    throw failure(exit_status::interrupted,
                  fmt::format("stopped on signal {} while reading the input; repeat the command", signal_name(signal)));
}

/// Waits for the stage. Returns a signal that any rank received meanwhile, 0 for none.
int signal_before_stage(const session& s, staged_input& input) {
  std::exception_ptr error;
  wait_state own, all;
  do {
    // A rank whose part is ready also sleeps: polling MPI would take a core that other ranks need.
    if (own.not_ready == 0) std::this_thread::sleep_for(message_interval);
    const auto poll_until = steady::now() + message_interval;
    do {
      try {
        own.not_ready = input.is_ready() ? 0 : 1;
      } catch (...) {
        error = std::current_exception();
        own = {0, 1, 0};
      }
      own.signal = stop_signals::received();
      if (own.not_ready == 0 || own.signal != 0) break;
      std::this_thread::sleep_for(poll_interval);
    } while (steady::now() < poll_until);
    all = combine(s, own);
  } while (all.not_ready != 0 && all.failed == 0 && all.signal == 0);
  if (all.failed != 0)
    s.agree([&] {
      if (error) std::rethrow_exception(error);
    });
  return all.signal;
}

}  // namespace

std::uint64_t joined_input::max_items() const {
  std::uint64_t most = all_items;
  for (const staged_input* part : parts_) most = std::min(most, part->max_items());
  return most;
}

std::uint64_t joined_input::later_bytes() const {
  std::uint64_t bytes = 0;
  for (const staged_input* part : parts_) bytes += part->later_bytes();
  return bytes;
}

void joined_input::begin(std::uint64_t first, std::uint64_t last) {
  for (staged_input* part : parts_) part->begin(first, last);
}

bool joined_input::is_ready() {
  return std::count_if(parts_.begin(), parts_.end(), [](staged_input* part) { return !part->is_ready(); }) == 0;
}

bool await_stage(const session& s, staged_input& input, continued_by what) {
  const int signal = signal_before_stage(s, input);
  if (signal != 0 && s.is_root()) print_stopping(signal, what);
  return signal == 0;
}

void await_stage_or_throw(const session& s, staged_input& input) { throw_if_signal(signal_before_stage(s, input)); }

void throw_if_stopped() { throw_if_signal(stop_signals::received()); }

void for_each_stage(const session& s, staged_input& input, std::uint64_t items,
                    const std::function<void(std::uint64_t, std::uint64_t)>& work) {
  const auto end_of = [&](std::uint64_t first) { return first + std::min(input.max_items(), items - first); };
  if (items > 0) input.begin(0, end_of(0));
  for (std::uint64_t first = 0; first < items;) {
    const std::uint64_t last = end_of(first);
    await_stage_or_throw(s, input);
    if (last < items) input.begin(last, end_of(last));
    work(first, last);
    first = last;
  }
}

std::vector<run_stage> cut_into_stages(std::span<const batch> plan, std::span<const std::uint64_t> pending,
                                       std::uint64_t max_items) {
  std::vector<std::uint64_t> numbers(pending.begin(), pending.end());
  std::sort(numbers.begin(), numbers.end(),
            [&](std::uint64_t a, std::uint64_t b) { return plan[a].first_item < plan[b].first_item; });
  std::vector<run_stage> stages(1);
  for (const std::uint64_t number : numbers) {
    const batch& b = plan[number];
    if (b.item_count > max_items)
      refuse_usage(
          "--host-memory is enough for {} voxels of the compressed images at a time, but a batch of this result has "
          "{}; increase it or provide uncompressed images",
          max_items, b.item_count);
    const std::uint64_t end = b.first_item + b.item_count;
    if (!stages.back().batches.empty() && end - stages.back().first > max_items) stages.emplace_back();
    run_stage& stage = stages.back();
    if (stage.batches.empty()) stage.first = b.first_item;
    stage.batches.push_back(number);
    stage.last = end;
  }
  return stages;
}

}  // namespace voxherd
