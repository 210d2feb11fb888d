#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// The rank of each batch that holds most of its items, or no_rank. `holders`: of each item; empty for none.
std::vector<int> holders_of_batches(std::span<const batch> plan, const std::vector<int>& holders);

/// Decides which rank gets which batch when ranks fetch them: rank 0's rule, without messages and with the caller's
/// clock.
///
/// It measures each rank's speed from its batches. Ranks get the largest batch first. Near the end, a batch is withheld
/// from a rank that would finish it clearly later than the other ranks could finish everything that remains; that rank
/// waits, since the others may prove slower than expected. A rank far slower than the mean gets small batches, from the
/// end of the plan. The rank that would finish a batch first always gets it, so that no batch remains; a single rank
/// gets all, in order, those that it holds first. Batches that a rank holds go to this rank alone, before all others.
class dealer {
 public:
  /// `believed`: each rank's speed compared with the others' before it is measured, > 0. `pending`: numbers of the
  /// plan's batches that are to be done. `holders`: of each batch of the plan; empty for none.
  dealer(std::vector<double> believed, std::span<const batch> plan, const std::vector<std::uint64_t>& pending,
         const std::vector<int>& holders = {});

  void ask(int rank);  ///< requests one more batch
  void done(int rank, std::uint64_t number, double now);
  void stop();  ///< no rank gets another batch

  struct answer {
    int rank = 0;
    std::optional<std::uint64_t> number;  ///< number of the batch that it gets; none: nothing is left
  };
  /// The ranks that can be answered at `now` (seconds, never decreasing); the others wait. Call again when a
  /// batch is done, and at intervals, since an unfinished batch also tells something about a rank's speed.
  std::vector<answer> answers(double now);
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  struct worker {
    double believed = 1;
    std::deque<std::uint64_t> held;  ///< pending batches that only this rank gets
    double items_held = 0;
    std::deque<std::uint64_t> unfinished;
    double items_unfinished = 0;
    double changed_at = 0;     ///< when it received its first batch or last finished one
    double measured_from = 0;  ///< start of the time in which `ends` were computed
    struct end {
      double at, items;
    };
    std::deque<end> ends;  ///< the last few batches done
    bool measured() const { return !ends.empty(); }
  };
  /// All ranks at one moment.
  struct outlook {
    std::vector<double> speed;  ///< items/s, or in units of `believed` while none is measured
    std::vector<double> rest;   ///< items that it still has to compute
    double all_speed = 0, all_rest = 0;
  };

  outlook look(double now) const;
  std::optional<std::size_t> choose(int rank, const outlook& o) const;
  std::optional<std::size_t> choose_unmeasured(int rank, const outlook& o) const;
  bool slow(int rank, const outlook& o) const;
  bool first_to_end(int rank, double items, const outlook& o) const;
  int holder_of(std::uint64_t number) const { return holders_.empty() ? no_rank : holders_[number]; }
  std::size_t first_within(double items) const;
  std::size_t smallest() const { return falling_ ? pending_.size() - 1 : 0; }
  double items_of(std::size_t place) const { return static_cast<double>(plan_[pending_[place]].item_count); }
  void answer_holders(double now, std::vector<answer>& list);
  void grant(worker& w, std::uint64_t number, double now);

  std::vector<batch> plan_;
  std::deque<std::uint64_t> pending_;  ///< that no rank holds
  double items_pending_ = 0;
  bool falling_ = true;  ///< no pending batch is larger than one before it
  std::vector<int> holders_;
  std::vector<worker> workers_;
  std::vector<int> waiting_;
};

}  // namespace voxherd
