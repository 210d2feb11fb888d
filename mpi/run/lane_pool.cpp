#include "mpi/run/lane_pool.hpp"

#include <algorithm>
#include <cstring>

#include "core/clock.hpp"
#include "core/threads.hpp"
#include "mpi/result/rows.hpp"

namespace voxherd {

namespace {

/// The rows of `piece` within the rows of its batch.
std::vector<std::span<std::byte>> piece_rows(const batch& piece, const batch& items,
                                             std::span<const std::span<std::byte>> outputs,
                                             std::span<const output_spec> specs,
                                             std::span<const std::uint64_t> point_offsets) {
  std::vector<std::span<std::byte>> rows;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t bytes = specs[i].bytes_per_item();
    const row_range own = batch_rows(piece, specs[i].layout, point_offsets);
    const std::uint64_t before = own.first - batch_rows(items, specs[i].layout, point_offsets).first;
    rows.push_back(outputs[i].subspan(before * bytes, own.count * bytes));
  }
  return rows;
}

}  // namespace

/// Items [first, first + count) of the input of a batch. Their columns are copied together.
std::span<const std::byte> piecewise_runner::piece_input(std::span<const std::byte> input, std::uint64_t first,
                                                         std::uint64_t count) {
  const std::size_t bytes = count * input_bytes_per_item_;
  if (layout_ == input_layout::rows || bytes == input.size())
    return input.subspan(first * input_bytes_per_item_, bytes);
  piece_columns_.resize(bytes);
  const std::size_t piece_bytes = count * sizeof(float);
  const std::size_t column_bytes = input.size() / (input_bytes_per_item_ / sizeof(float));
  const std::byte* from = input.data() + first * sizeof(float);
  for (std::size_t at = 0; at < bytes; at += piece_bytes, from += column_bytes)
    std::memcpy(piece_columns_.data() + at, from, piece_bytes);
  return piece_columns_;
}

void piecewise_runner::run(const batch& items, std::span<const std::byte> input,
                           std::span<const std::span<std::byte>> outputs, std::span<const output_spec> specs,
                           std::span<const std::uint64_t> point_offsets) {
  const auto run_piece = [&](std::uint64_t first, std::uint64_t count) {
    const batch piece{items.number, items.first_item + first, count};
    runner_->run(piece, piece_input(input, first, count), piece_rows(piece, items, outputs, specs, point_offsets));
  };
  pieces_.run(items.item_count, run_piece, [&] { runner_->release_memory(); });
}

using clock = std::chrono::steady_clock;

std::vector<std::span<std::byte>> work_slot::output_spans() const {
  std::vector<std::span<std::byte>> spans;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::uint64_t rows = batch_rows(items, specs[i].layout, point_offsets).count;
    spans.emplace_back(outputs[i].get(), rows * specs[i].bytes_per_item());
  }
  return spans;
}

work_slot make_slot(analysis& a, const device_hooks& device, batch_room most,
                    std::span<const std::uint64_t> point_offsets) {
  work_slot slot;
  slot.point_offsets = point_offsets;
  if (const item_input* input = a.input()) slot.input_bytes_per_item = input->bytes_per_item();
  slot.input = device.allocate(std::max<std::size_t>(1, most.items * slot.input_bytes_per_item));
  slot.specs = a.outputs();
  for (const output_spec& o : slot.specs) {
    slot.outputs.push_back(device.allocate(std::max<std::size_t>(1, most.rows(o.layout) * o.bytes_per_item())));
  }
  return slot;
}

lane_pool::lane_pool(analysis& a, const device_hooks& device) {
  try {
    for (int lane = 0; lane < std::max(1, a.lanes()); ++lane)
      threads_.push_back(start_thread("computes", [this, &a, &device, lane] { drive(a, device, lane); }));
  } catch (...) {
    end_threads();
    throw;
  }
}

lane_pool::~lane_pool() { end_threads(); }

void lane_pool::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  submitted_.notify_all();
  threads_.clear();
}

void lane_pool::submit(work_slot* loaded) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(loaded);
  }
  submitted_.notify_one();
}

work_slot* lane_pool::take_finished() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (finished_.empty()) return nullptr;
  work_slot* slot = finished_.front();
  finished_.pop_front();
  return slot;
}

std::vector<work_slot*> lane_pool::take_waiting() {
  const std::lock_guard lock(mutex_);
  std::vector<work_slot*> slots(waiting_.begin(), waiting_.end());
  waiting_.clear();
  return slots;
}

std::size_t lane_pool::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void lane_pool::wait_for_change(std::chrono::microseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [this] { return changes_; });
  changes_ = false;
}

double lane_pool::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  const double now = running_ > 0 ? std::chrono::duration<double>(clock::now() - busy_since_).count() : 0;
  return busy_seconds_ + now;
}

void lane_pool::drive(analysis& a, const device_hooks& device, int lane) {
  try {
    if (device.enter_thread) device.enter_thread();
    piecewise_runner runner(a);
    std::unique_lock lock(mutex_);
    while (true) {
      submitted_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      work_slot* slot = waiting_.front();
      waiting_.pop_front();
      if (running_++ == 0) busy_since_ = clock::now();
      changes_ = true;
      lock.unlock();
      changed_.notify_one();
      slot->times.lane = static_cast<std::uint32_t>(lane);
      compute(runner, *slot);
      lock.lock();
      if (--running_ == 0) busy_seconds_ += std::chrono::duration<double>(clock::now() - busy_since_).count();
      finished_.push_back(slot);
      changes_ = true;
      changed_.notify_one();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    changes_ = true;
    changed_.notify_one();
  }
}

void lane_pool::compute(piecewise_runner& runner, work_slot& slot) {
  slot.times.compute_begin = steady_seconds();
  runner.run(slot.items, slot.input_bytes(), slot.output_spans(), slot.specs, slot.point_offsets);
  slot.times.compute_end = steady_seconds();
  slot.microseconds = static_cast<std::uint64_t>(1e6 * (slot.times.compute_end - slot.times.compute_begin));
}

}  // namespace voxherd
