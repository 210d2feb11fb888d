#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/signals.hpp"

namespace voxherd {

/// Several inputs that are staged together, such as a series and its map. They outlive this.
class joined_input final : public staged_input {
 public:
  void add(staged_input& part) { parts_.push_back(&part); }
  std::uint64_t max_items() const override;
  std::uint64_t later_bytes() const override;
  void begin(std::uint64_t first, std::uint64_t last) override;
  bool is_ready() override;

 private:
  std::vector<staged_input*> parts_;
};

/// Waits until the latest stage is ready on every rank; false if any rank received a stop signal meanwhile. Ranks sleep
/// and exchange signals within 0.1 s. `what` continues the run, for the message. Throws failure, the same on every
/// rank. Collective.
bool await_stage(const session& s, staged_input& input, continued_by what = continued_by::resume_option);
/// The same for callers with nothing to save: a stop signal throws failure (interrupted) on every rank.
void await_stage_or_throw(const session& s, staged_input& input);

/// Calls work(first, last) for one stage after another, on every rank. Throws as await_stage_or_throw().
void for_each_stage(const session& s, staged_input& input, std::uint64_t items,
                    const std::function<void(std::uint64_t, std::uint64_t)>& work);

/// Throws failure (interrupted) if this rank received a stop signal: only for rank 0, during a long step.
void throw_if_stopped();

/// Batches that are computed from one stage, and the range of their items.
struct run_stage {
  std::vector<std::uint64_t> batches;  ///< numbers
  std::uint64_t first = 0, last = 0;   ///< items
};
/// Cuts `pending` batches, in the order of their items, into stages of at most `max_items` items; one stage without
/// batches if none is pending. Throws failure (usage) if a batch has more items.
std::vector<run_stage> cut_into_stages(std::span<const batch> plan, std::span<const std::uint64_t> pending,
                                       std::uint64_t max_items);

}  // namespace voxherd
