#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/analysis.hpp"
#include "core/plan.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

/// Runs batches on one device; a batch that does not fit in its memory is run in pieces. Used by one thread.
class piecewise_runner {
 public:
  explicit piecewise_runner(analysis& a)
      : runner_(a.make_runner()),
        layout_(a.reads()),
        input_bytes_per_item_(a.input() == nullptr ? 0 : a.input()->bytes_per_item()) {}

  /// `outputs`: the batch's rows of each of `specs`; `point_offsets`: see analysis::point_offsets(). Throws
  /// device_out_of_memory if a single item does not fit.
  void run(const batch& items, std::span<const std::byte> input, std::span<const std::span<std::byte>> outputs,
           std::span<const output_spec> specs, std::span<const std::uint64_t> point_offsets);

 private:
  std::span<const std::byte> piece_input(std::span<const std::byte> input, std::uint64_t first, std::uint64_t count);

  std::unique_ptr<batch_runner> runner_;
  input_layout layout_;
  std::size_t input_bytes_per_item_;
  pieces_that_fit pieces_;
  std::vector<std::byte> piece_columns_;
};

/// Times of the events of a batch, on its rank's steady_seconds(): the content of `--trace`.
struct batch_times {
  std::uint64_t number = 0, items = 0;
  std::uint32_t rank = 0, lane = 0;           ///< lane: which of the rank's device threads computed it
  double asked = 0;                           ///< the rank had room for a batch
  double read_begin = 0, read_end = 0;        ///< begins when the rank was granted the batch
  double compute_begin = 0, compute_end = 0;  ///< on the device, including copies to and from it
  double write_begin = 0, write_end = 0;      ///< results and journal entry
};

/// A batch being processed by a rank, with its buffers. Buffers are allocated once and reused.
struct work_slot {
  batch items;
  std::shared_ptr<std::byte> input;
  std::size_t input_bytes_per_item = 0;
  std::vector<std::shared_ptr<std::byte>> outputs;
  std::vector<output_spec> specs;
  std::span<const std::uint64_t> point_offsets;  ///< offsets of the complete run; they outlive the slot
  std::uint64_t microseconds = 0;
  batch_times times;

  std::span<std::byte> input_bytes() const { return {input.get(), items.item_count * input_bytes_per_item}; }
  std::vector<std::span<std::byte>> output_spans() const;
};

work_slot make_slot(analysis& a, const device_hooks& device, batch_room most,
                    std::span<const std::uint64_t> point_offsets);

/// The rank's device threads: each computes one batch after another on the device and calls nothing else.
class lane_pool {
 public:
  lane_pool(analysis& a, const device_hooks& device);
  ~lane_pool();  ///< waits for the batches being computed
  lane_pool(const lane_pool&) = delete;
  lane_pool& operator=(const lane_pool&) = delete;

  int lanes() const { return static_cast<int>(threads_.size()); }
  void submit(work_slot* loaded);
  /// A computed batch, or null. Throws what a device thread threw.
  work_slot* take_finished();
  /// Takes back the batches that no thread has started.
  std::vector<work_slot*> take_waiting();

  std::size_t waiting() const;
  /// Returns when a batch was started or finished, or after `longest`.
  void wait_for_change(std::chrono::microseconds longest);
  /// Seconds in which at least one thread was computing.
  double busy_seconds() const;

 private:
  void drive(analysis& a, const device_hooks& device, int lane);
  void compute(piecewise_runner& runner, work_slot& slot);
  void end_threads();

  mutable std::mutex mutex_;
  std::condition_variable submitted_, changed_;
  std::deque<work_slot*> waiting_, finished_;
  std::exception_ptr error_;
  bool stop_ = false, changes_ = false;
  int running_ = 0;
  double busy_seconds_ = 0;
  std::chrono::steady_clock::time_point busy_since_;
  std::vector<std::jthread> threads_;  ///< join when they are removed
};

}  // namespace voxherd
