#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/run/batch_queue.hpp"
#include "mpi/run/lane_pool.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/run_types.hpp"
#include "mpi/run/signals.hpp"
#include "mpi/run/summary.hpp"

namespace voxherd {

/// The main thread of one rank: claims batches, reads their input, passes them to the device threads, writes their
/// results. It prepares one batch while the device computes, so that the device never waits for a message or a file,
/// and sleeps when there is nothing to do.
class work_loop {
 public:
  /// `layout` outlives the loop: its batches and offsets of points are used. `receive`: called with every computed
  /// batch; may be empty.
  work_loop(const session& s, analysis& a, const device_hooks& device, const result_layout& layout, progress& shown,
            continued_by continuation, batch_receiver receive = {});

  /// From now on batches are written; before, they are only received. `writer` outlives the calls of run().
  void write_to(result_writer& writer) { writer_ = &writer; }

  /// Works until all ranks have left this queue. After a signal: until the batches being computed are written; if other
  /// ranks take too long, the process exits with exit_status::interrupted.
  /// `every_second`: called at most once per second meanwhile; what it throws ends the loop.
  void run(batch_queue& queue, const std::function<void()>& every_second = {});

  rank_account account() const { return account_; }
  /// Times of every batch that this rank has finished.
  const std::vector<batch_times>& times() const { return times_; }

 private:
  bool load_next();
  bool write_next();
  void notice_signals();
  void leave_if_idle();
  void call_each_second(const std::function<void()>& what);
  std::size_t in_flight() const { return slots_.size() - free_.size(); }

  const session& session_;
  analysis& analysis_;
  std::span<const batch> plan_;
  batch_queue* queue_ = nullptr;
  result_writer* writer_ = nullptr;
  progress& progress_;
  continued_by continuation_;  ///< of a stopped run, for the messages
  batch_receiver receive_;
  std::vector<work_slot> slots_;
  std::vector<work_slot*> free_;
  lane_pool lanes_;
  rank_account account_;
  std::vector<batch_times> times_;
  std::uint64_t items_before_ = 0;  ///< rank 0: done in earlier queues
  double wanted_since_ = 0;         ///< on steady_seconds(); 0 while no buffer is free
  std::chrono::steady_clock::time_point stopped_at_{}, called_at_{};
};

}  // namespace voxherd
