#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/failure.hpp"
#include "mpi/comm/channel.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/dealer.hpp"
#include "mpi/run/run_types.hpp"
#include "mpi/run/stall_watch.hpp"

namespace voxherd {

/// Distributes batches. Ranks ask rank 0, whose main thread answers as its dealer decides (two-sided messages:
/// one-sided ones wait for the other side's next MPI call, and fail between nodes with the usual Open MPI); near the
/// end the answer may be delayed. With the other schedules no rank asks: pending batch i of n belongs to rank i mod
/// size (in_advance) or to rank i size / n (blocks).
///
/// The same messages tell rank 0 of finished batches, signals, failures, and ranks without further work. All calls by
/// the main thread; only close() waits.
class batch_queue {
 public:
  /// `pending`: numbers of the batches to be done, the same on every rank. `believed`: each rank's speed compared with
  /// the others' before it is measured; empty if all are alike. `holders`: with the dynamic schedule, the rank that
  /// alone gets each batch of the plan, or no_rank; empty for none.
  batch_queue(const session& s, schedule_kind schedule, std::span<const batch> plan,
              const std::vector<std::uint64_t>& pending, std::vector<double> believed = {},
              const std::vector<int>& holders = {});

  /// Rank 0's `watch`, which outlives the queue, learns what every rank does. Not null on the other ranks either.
  void report_to(stall_watch* watch) { watch_ = watch; }

  void poll();  ///< sends and receives messages; on rank 0 throws another rank's failure
  bool settle() { return messages_.deliver(); }  ///< true when all own messages have been delivered

  void ask();  ///< requests one more batch, which take() returns later
  bool asked() const { return asked_; }
  std::optional<std::uint64_t> take();  ///< the number of a granted batch
  bool exhausted() const { return exhausted_; }

  void report_activity(batch_activity activity, std::uint64_t number);
  void report_done(std::uint64_t number);
  void report_failure(const failure& f);
  /// This rank has received `signal`: no rank gets another batch.
  void stop(int signal);
  int stopped_by() const { return stopped_by_; }
  /// On rank 0: no rank gets another batch from this queue; those being computed are finished.
  void pause();
  /// This rank has computed and written all its batches.
  void leave();
  bool left() const { return left_; }
  /// Every rank has left.
  bool finished() const { return finished_; }
  /// After the last rank has left: drops late messages, so that no other queue receives them. Collective.
  void close() { messages_.close(); }
  /// Whether every batch was done; on all ranks, once finished.
  bool all_done() const { return all_done_; }

  std::uint64_t items_done() const { return items_done_; }  ///< rank 0: by all ranks

 private:
  struct note {
    std::int64_t kind, value;
  };
  void send(int to, std::int64_t kind, std::int64_t value);
  void receive(int from, note n);
  void answer_waiting();
  void answer_now_and_then();
  void count_done(int rank, std::uint64_t number);
  void begin_stop(int signal);
  void count_left();

  const session* session_;
  schedule_kind schedule_;
  std::vector<batch> plan_;
  std::deque<std::uint64_t> own_;   ///< schedules without requests: this rank's remaining batches
  std::unique_ptr<dealer> dealer_;  ///< rank 0, dynamic
  stall_watch* watch_ = nullptr;
  double answered_at_ = 0;  ///< seconds on steady_seconds()
  std::size_t pending_in_all_;
  channel messages_;
  std::deque<std::uint64_t> granted_;
  bool asked_ = false, exhausted_ = false, stopped_ = false, left_ = false, finished_ = false, all_done_ = false;
  int stopped_by_ = 0;
  int ranks_left_ = 0;
  std::uint64_t batches_done_ = 0, items_done_ = 0;
};

}  // namespace voxherd
