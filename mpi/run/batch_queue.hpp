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
#include "mpi/run/run.hpp"

namespace voxherd {

/// Who computes which batch. Ranks ask rank 0, which answers from its talking thread (two-sided messages: one-sided
/// ones wait for the other side's next MPI call, and fail between nodes on stock Open MPI), as its dealer says; the
/// answer may take its time near the end. With the other schedules nobody asks: pending batch i of n belongs to rank
/// i mod size (in_advance) or to rank i size / n (blocks).
///
/// The same messages carry what rank 0 must know: batches done, a signal received, a failure, a rank that has nothing
/// left. All calls by the talking thread; only close() waits.
class batch_queue {
 public:
  /// `pending`: numbers of the batches to be done, the same on every rank. `believed`: each rank's speed beside the
  /// others' before it is measured; empty where all are alike.
  batch_queue(const session& s, schedule_kind schedule, std::span<const batch> plan,
              const std::vector<std::uint64_t>& pending, std::vector<double> believed = {});

  void poll();  ///< sends and receives what there is; on rank 0 throws another rank's failure
  bool settle() { return messages_.deliver(); }  ///< true when all own messages have been delivered

  void ask();  ///< for one more batch; take() has it later
  bool asked() const { return asked_; }
  std::optional<std::uint64_t> take();  ///< the number of a granted batch
  bool exhausted() const { return exhausted_; }

  void report_done(std::uint64_t number);
  void report_failure(const failure& f);
  /// This rank was told to stop by `signal`: no rank gets another batch.
  void stop(int signal);
  int stopped_by() const { return stopped_by_; }
  /// This rank has computed and written all it was given.
  void leave();
  bool left() const { return left_; }
  /// Every rank has left.
  bool finished() const { return finished_; }
  /// After the last rank has left: drops late messages, so that no other queue receives them. Collective.
  void close() { messages_.close(); }
  /// Whether every batch was done; on all ranks, once finished.
  bool whole() const { return whole_; }

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
  std::deque<std::uint64_t> own_;   ///< where nobody asks: what is left of this rank's
  std::unique_ptr<dealer> dealer_;  ///< rank 0, dynamic
  double answered_at_ = 0;          ///< seconds on steady_seconds()
  std::size_t pending_in_all_;
  channel messages_;
  std::deque<std::uint64_t> granted_;
  bool asked_ = false, exhausted_ = false, left_ = false, finished_ = false, whole_ = false;
  int stopped_by_ = 0;
  int ranks_left_ = 0;
  std::uint64_t batches_done_ = 0, items_done_ = 0;
};

}  // namespace voxherd
