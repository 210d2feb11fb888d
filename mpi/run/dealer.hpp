#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Which rank gets which batch when ranks fetch them: rank 0's rule, without messages and with anybody's clock.
///
/// It knows what each rank was given and when it was done, hence each rank's speed. Ranks get the largest batch first.
/// Near the end a rank gets none that it would end clearly later than the others could end all that is left; it waits,
/// since the others may turn out slower than believed, until nothing is left. A rank far slower than the mean gets
/// small batches, from the plan's end. The rank that would end a batch first is never refused it, so no batch is left
/// over; a single rank gets all, in order.
class dealer {
 public:
  /// `believed`: each rank's speed beside the others' before it is measured, > 0. `pending`: numbers of the plan's
  /// batches that are to be done.
  dealer(std::vector<double> believed, std::span<const batch> plan, const std::vector<std::uint64_t>& pending);

  void ask(int rank);  ///< wants one batch more
  void done(int rank, std::uint64_t number, double now);
  void stop() { pending_.clear(); }  ///< nobody gets another batch

  struct answer {
    int rank = 0;
    std::optional<std::uint64_t> number;  ///< of the batch that it gets; none: nothing is left, for good
  };
  /// To whom something can be said at `now` (seconds, never falling). Who is not among them waits: to be called again
  /// when a batch was done, and now and then, since silence says something of a rank's speed, too.
  std::vector<answer> answers(double now);
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  struct worker {
    double believed = 1;
    std::deque<std::uint64_t> unfinished;
    double items_unfinished = 0;
    double changed_at = 0;     ///< when it got something to do or was last done with a batch
    double measured_from = 0;  ///< what `ends` were done since
    struct end {
      double at, items;
    };
    std::deque<end> ends;  ///< the last few batches done
    bool measured() const { return !ends.empty(); }
  };
  /// All ranks at one moment.
  struct outlook {
    std::vector<double> speed;  ///< items/s, or in units of `believed` while none is measured
    std::vector<double> rest;   ///< items of its own that it still has to compute
    double all_speed = 0, all_rest = 0;
  };

  outlook look(double now) const;
  std::optional<std::size_t> choose(int rank, const outlook& o) const;
  std::optional<std::size_t> choose_unmeasured(int rank, const outlook& o) const;
  bool slow(int rank, const outlook& o) const;
  bool first_to_end(int rank, double items, const outlook& o) const;
  std::size_t first_of_at_most(double items) const;
  std::size_t smallest() const { return falling_ ? pending_.size() - 1 : 0; }
  double items_of(std::size_t place) const { return static_cast<double>(plan_[pending_[place]].item_count); }
  void grant(worker& w, std::uint64_t number, double now);

  std::vector<batch> plan_;
  std::deque<std::uint64_t> pending_;
  double items_pending_ = 0;
  bool falling_ = true;  ///< no pending batch is larger than one before it
  std::vector<worker> workers_;
  std::vector<int> waiting_;
};

}  // namespace voxherd
