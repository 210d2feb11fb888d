#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// What a rank does with a batch.
enum class batch_activity : std::int64_t { reading, computing, writing };

/// Ends a run in which nothing happens any more. A thread of rank 0, which calls neither MPI nor HDF5, waits: main
/// threads may be stuck in a call. If no batch is finished within `minutes`, it prints what each rank does and ends the
/// process with exit_status::interrupted; the launcher then ends the other ranks. Finished batches are in OUT.part.
class stall_watch {
 public:
  /// `hosts`: of every rank; on rank 0 only. Ranks other than 0 have no thread. `part`: file of finished batches, ""
  /// for none.
  stall_watch(const session& s, double minutes, std::vector<std::string> hosts, std::string part);
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;

  // On rank 0.
  void stored_in(const std::string& part);
  void note(int rank, batch_activity activity, std::uint64_t batch);
  void note_finished(int rank, std::uint64_t batch);
  void note_progress();  ///< a part of the input is ready, or the work continues after one

 private:
  struct started {
    batch_activity activity;
    double at;  ///< on steady_seconds()
  };
  void wait_for_stall(const std::stop_token& stop);
  [[noreturn]] void end_run() const;
  void reset();
  std::string describe() const;
  std::string describe(int rank, const std::map<std::uint64_t, started>& batches) const;

  double minutes_;
  std::vector<std::string> hosts_;
  std::string part_;
  mutable std::mutex mutex_;
  std::vector<std::map<std::uint64_t, started>> batches_;  ///< batches that each rank has not finished
  double progress_at_;                                     ///< on steady_seconds()
  double idle_seconds_ = 0;  ///< since then, without the time in which this process was stopped
  std::jthread thread_;      ///< its destructor ends it
};

}  // namespace voxherd
