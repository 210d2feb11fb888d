#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "mpi/run/dealer.hpp"

namespace voxherd::toy {

/// A rank with a simulated clock: it computes one batch at a time and holds one more, as work_loop does.
struct simulated_rank {
  double items_per_second = 1000;
  double believed = 1;
  double seconds_per_batch = 0;                           ///< beside what its items take
  double stalls_at = std::numeric_limits<double>::max();  ///< what it begins after this never ends

  std::vector<std::uint64_t> batches;  ///< what it got, in order
  std::vector<std::uint64_t> in_hand;
  double ends_at = -1;  ///< the batch being computed; < 0: none
  bool asked = false, received_nothing_left = false;
  double last_end = 0;
};

/// Outcome of a run: when the last batch ended; `times_done` of each batch of the plan.
struct simulated_run {
  double seconds = 0;
  std::vector<int> times_done;
};

/// Deals the pending batches of a plan to the ranks until each has received "nothing left" and has finished, or until
/// nothing happens for `patience` seconds. The clock advances from one end of a batch to the next, and by at most 5 ms
/// while a rank waits.
inline simulated_run deal_to(std::vector<simulated_rank>& ranks, const std::vector<batch>& plan,
                             std::vector<std::uint64_t> pending, double patience = 1e4,
                             const std::function<void(dealer&, double now)>& each_step = {}) {
  std::vector<double> believed;
  for (const simulated_rank& r : ranks) believed.push_back(r.believed);
  dealer deals(believed, plan, pending);
  simulated_run run;
  run.times_done.resize(plan.size());
  double now = 0, last_event = 0;
  const auto begin = [&](simulated_rank& r, std::uint64_t number) {
    const double seconds = r.seconds_per_batch + static_cast<double>(plan[number].item_count) / r.items_per_second;
    r.ends_at = now >= r.stalls_at ? std::numeric_limits<double>::max() : now + seconds;
  };
  const auto ask_and_hear = [&] {
    for (bool heard = true; heard;) {
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        simulated_rank& r = ranks[i];
        if (r.asked || r.received_nothing_left || !r.in_hand.empty()) continue;
        r.asked = true;
        deals.ask(static_cast<int>(i));
      }
      const auto answers = deals.answers(now);
      heard = !answers.empty();
      for (const auto& [rank, number] : answers) {
        simulated_rank& r = ranks[static_cast<std::size_t>(rank)];
        r.asked = false;
        if (!number) {
          r.received_nothing_left = true;
          continue;
        }
        r.batches.push_back(*number);
        r.ends_at < 0 ? begin(r, *number) : r.in_hand.push_back(*number);
      }
    }
  };
  while (now - last_event < patience) {
    if (each_step) each_step(deals, now);
    ask_and_hear();
    const auto idle = [](const simulated_rank& r) {
      return r.received_nothing_left && r.ends_at < 0 && r.in_hand.empty();
    };
    if (std::all_of(ranks.begin(), ranks.end(), idle)) break;
    double next = deals.has_waiting() ? now + 0.005 : std::numeric_limits<double>::max();
    for (const simulated_rank& r : ranks) next = r.ends_at < 0 ? next : std::min(next, r.ends_at);
    if (next == std::numeric_limits<double>::max()) break;
    now = next;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      simulated_rank& r = ranks[i];
      if (r.ends_at < 0 || r.ends_at > now) continue;
      const std::uint64_t number = r.batches[r.batches.size() - 1 - r.in_hand.size()];
      ++run.times_done[number];
      deals.done(static_cast<int>(i), number, now);
      r.ends_at = -1;
      r.last_end = run.seconds = last_event = now;
      if (r.in_hand.empty()) continue;
      begin(r, r.in_hand.front());
      r.in_hand.clear();
    }
  }
  return run;
}

}  // namespace voxherd::toy
