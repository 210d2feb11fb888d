#include "mpi/run/work_loop.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/clock.hpp"
#include "core/text.hpp"
#include "core/unexpected_exit.hpp"
#include "mpi/run/signals.hpp"

namespace voxherd {

namespace {

using steady = std::chrono::steady_clock;

// Batch systems send SIGKILL 30 s after SIGTERM: batches that are not finished by then are dropped; --resume repeats
// them.
constexpr std::chrono::seconds grace{20};
constexpr std::chrono::microseconds between_messages{500};
constexpr std::chrono::microseconds between_signals{20000};

std::vector<work_slot> make_slots(analysis& a, const device_hooks& device, const result_layout& layout) {
  // One per lane being computed, one waiting, one being written; no more than there are batches, because page-locked
  // memory takes 0.5 s per GB.
  const auto wanted = static_cast<std::size_t>(std::max(1, a.lanes())) + 2;
  const batch_room most = largest_room(layout.batches, layout.point_offsets);
  std::vector<work_slot> slots;
  while (slots.size() < std::min(wanted, std::max<std::size_t>(1, layout.batches.size())))
    slots.push_back(make_slot(a, device, most, layout.point_offsets));
  return slots;
}

}  // namespace

work_loop::work_loop(const session& s, analysis& a, const device_hooks& device, const result_layout& layout,
                     progress& shown, continued_by continuation, batch_receiver receive)
    : session_(s),
      analysis_(a),
      plan_(layout.batches),
      progress_(shown),
      continuation_(continuation),
      receive_(std::move(receive)),
      slots_(make_slots(a, device, layout)),
      lanes_(a, device) {
  for (work_slot& slot : slots_) free_.push_back(&slot);
}

void work_loop::run(batch_queue& queue, const std::function<void()>& every_second) {
  queue_ = &queue;
  const double start = steady_seconds();
  const double busy_before = lanes_.busy_seconds();
  while (!queue_->finished()) {
    queue_->poll();
    notice_signals();
    const bool loaded = load_next();
    const bool wrote = !loaded && write_next();
    leave_if_idle();
    call_each_second(every_second);
    progress_.update(items_before_ + queue_->items_done());
    if (loaded || wrote || queue_->finished()) continue;
    const bool expects_messages = session_.size() > 1 && (session_.is_root() || queue_->asked() || queue_->left());
    lanes_.wait_for_change(expects_messages ? between_messages : between_signals);
  }
  while (!queue_->settle()) usleep(100);
  items_before_ += queue_->items_done();
  account_.computing_seconds = lanes_.busy_seconds();
  account_.waiting_seconds += std::max(0.0, steady_seconds() - start - (account_.computing_seconds - busy_before));
}

bool work_loop::load_next() {
  if (free_.empty() || lanes_.waiting() > 0) return false;
  if (wanted_since_ == 0) wanted_since_ = steady_seconds();
  const auto number = queue_->take();
  if (!number) {
    queue_->ask();
    return false;
  }
  work_slot* slot = free_.back();
  free_.pop_back();
  slot->items = plan_[*number];
  slot->times = {.number = *number, .items = slot->items.item_count, .asked = wanted_since_};
  wanted_since_ = 0;
  queue_->report_activity(batch_activity::reading, *number);
  slot->times.read_begin = steady_seconds();
  load_input(analysis_, slot->items, slot->input_bytes());
  slot->times.read_end = steady_seconds();
  account_.reading_seconds += slot->times.read_end - slot->times.read_begin;
  queue_->report_activity(batch_activity::computing, *number);
  lanes_.submit(slot);
  return true;
}

bool work_loop::write_next() {
  work_slot* slot = lanes_.take_finished();
  if (slot == nullptr) return false;
  queue_->report_activity(batch_activity::writing, slot->items.number);
  slot->times.write_begin = steady_seconds();
  const auto spans = slot->output_spans();
  const std::vector<std::span<const std::byte>> outputs(spans.begin(), spans.end());
  if (writer_ != nullptr)
    writer_->write(slot->items, outputs, static_cast<std::uint64_t>(session_.rank()), slot->microseconds);
  if (receive_) receive_(slot->items, outputs);
  slot->times.write_end = steady_seconds();
  account_.writing_seconds += slot->times.write_end - slot->times.write_begin;
  times_.push_back(slot->times);
  account_.items += slot->items.item_count;
  ++account_.batches;
  queue_->report_done(slot->items.number);
  free_.push_back(slot);
  return true;
}

void work_loop::notice_signals() {
  if (queue_->stopped_by() == 0 && stop_signals::received() != 0) queue_->stop(stop_signals::received());
  if (queue_->stopped_by() == 0) return;
  for (work_slot* slot : lanes_.take_waiting()) free_.push_back(slot);
  if (stopped_at_ == steady::time_point{}) {
    stopped_at_ = steady::now();
    if (session_.is_root())
      print_stopping(queue_->stopped_by(), continuation_,
                     writer_ != nullptr ? stored_batches::all : stored_batches::none);
  }
  if (steady::now() - stopped_at_ < grace) return;
  print_error_output("voxherd: rank {} exits with an unfinished batch; {}\n", session_.rank(),
                     how_to_continue(continuation_));
  std::fflush(nullptr);
  // There is no time to finalize MPI or to close the file: every finished batch is already in the file.
  end_process(exit_status::interrupted);
}

void work_loop::call_each_second(const std::function<void()>& what) {
  const auto now = steady::now();
  if (!what || now - called_at_ < std::chrono::seconds(1)) return;
  called_at_ = now;
  what();
}

void work_loop::leave_if_idle() {
  if (queue_->exhausted() && in_flight() == 0) queue_->leave();
}

}  // namespace voxherd
