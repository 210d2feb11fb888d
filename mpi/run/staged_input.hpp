#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

/// Several inputs whose stages go together, such as a series and the map that belongs to it. They outlive this.
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

/// Until the stage begun last is there on every rank; false where a rank was told to stop meanwhile. Ranks sleep, and
/// hear of each other's signals within a tenth of a second. Throws failure, the same on every rank. Collective.
bool await_stage(const session& s, staged_input& input);
/// The same for who has nothing to save when told to stop: throws failure (resume_me) on every rank.
void bring_stage(const session& s, staged_input& input);

/// All of `items` items, a stage after the other: work(first, last), on every rank. Throws as bring_stage().
void for_each_stage(const session& s, staged_input& input, std::uint64_t items,
                    const std::function<void(std::uint64_t, std::uint64_t)>& work);

/// Throws failure (resume_me) where this rank was told to stop: for rank 0 alone, in the middle of a long step.
void leave_if_told();

/// Batches that are computed from one stage, and the run of items that they take.
struct run_stage {
  std::vector<std::uint64_t> batches;  ///< numbers
  std::uint64_t first = 0, last = 0;   ///< items
};
/// Cuts `pending` batches, in the order of their items, into stages of at most `max_items` items; one stage without
/// batches where none is pending. Throws failure (usage) where one batch has more items.
std::vector<run_stage> stages_of(std::span<const batch> plan, std::span<const std::uint64_t> pending,
                                 std::uint64_t max_items);

}  // namespace voxherd
