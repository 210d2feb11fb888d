#include "mpi/run/batch_queue.hpp"

#include <cstring>

#include "core/clock.hpp"

namespace voxherd {

namespace {

constexpr int tag_note = 1, tag_failure = 2;

// to rank 0
constexpr std::int64_t wants_batch = 1, has_done = 2, has_left = 3;
constexpr std::int64_t first_activity = 16;  // and a batch_activity
// from rank 0
constexpr std::int64_t grants = 4, nothing_left = 5, all_have_left = 6;
// both directions
constexpr std::int64_t stops = 7;

// Rank 0 reconsiders ranks that wait for an answer after this time, even if no batch was finished: by then a rank may
// have proved slower than expected.
constexpr double between_reconsiderations = 0.005;

}  // namespace

batch_queue::batch_queue(const session& s, schedule_kind schedule, std::span<const batch> plan,
                         const std::vector<std::uint64_t>& pending, std::vector<double> believed,
                         const std::vector<int>& holders)
    : session_(&s),
      schedule_(schedule),
      plan_(plan.begin(), plan.end()),
      pending_in_all_(pending.size()),
      messages_(s) {
  const auto ranks = static_cast<std::size_t>(s.size()), own = static_cast<std::size_t>(s.rank());
  if (schedule == schedule_kind::dynamic) {
    if (believed.empty()) believed.assign(ranks, 1.0);
    if (s.is_root()) dealer_ = std::make_unique<dealer>(std::move(believed), plan_, pending, holders);
    return;
  }
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const std::size_t rank = schedule == schedule_kind::in_advance ? i % ranks : i * ranks / pending.size();
    if (rank == own) own_.push_back(pending[i]);
  }
}

void batch_queue::send(int to, std::int64_t kind, std::int64_t value) {
  const note n{kind, value};
  messages_.send(to, tag_note, {reinterpret_cast<const char*>(&n), sizeof n});
}

void batch_queue::poll() {
  messages_.deliver();
  while (const auto message = messages_.receive()) {
    if (message->tag == tag_failure)
      throw failure(static_cast<exit_status>(message->bytes.front()), message->bytes.substr(1));
    note n{};
    std::memcpy(&n, message->bytes.data(), sizeof n);
    receive(message->from, n);
  }
  answer_now_and_then();
}

void batch_queue::receive(int from, note n) {
  if (n.kind >= first_activity)
    return watch_->note(from, static_cast<batch_activity>(n.kind - first_activity),
                        static_cast<std::uint64_t>(n.value));
  switch (n.kind) {
    case wants_batch:
      dealer_->ask(from);
      return answer_waiting();
    case has_done:
      return count_done(from, static_cast<std::uint64_t>(n.value));
    case has_left:
      return count_left();
    case stops:
      return begin_stop(static_cast<int>(n.value));
    case grants:
      asked_ = false;
      if (!stopped_) granted_.push_back(static_cast<std::uint64_t>(n.value));
      return;
    case nothing_left:
      asked_ = false;
      exhausted_ = true;
      return;
    case all_have_left:
      finished_ = true;
      all_done_ = n.value != 0;
      return;
  }
}

void batch_queue::answer_waiting() {
  answered_at_ = steady_seconds();
  for (const auto& [rank, number] : dealer_->answers(answered_at_)) {
    const note n{number ? grants : nothing_left, number ? static_cast<std::int64_t>(*number) : 0};
    rank == 0 ? receive(0, n) : send(rank, n.kind, n.value);
  }
}

void batch_queue::answer_now_and_then() {
  if (dealer_ && dealer_->has_waiting() && steady_seconds() - answered_at_ > between_reconsiderations) answer_waiting();
}

void batch_queue::ask() {
  if (asked_ || exhausted_) return;
  if (schedule_ == schedule_kind::dynamic) {
    asked_ = true;
    if (!session_->is_root()) return send(0, wants_batch, 0);
    dealer_->ask(0);
    return answer_waiting();
  }
  if (own_.empty() || stopped_) {
    exhausted_ = true;
    return;
  }
  granted_.push_back(own_.front());
  own_.pop_front();
}

std::optional<std::uint64_t> batch_queue::take() {
  if (granted_.empty()) return std::nullopt;
  const std::uint64_t number = granted_.front();
  granted_.pop_front();
  return number;
}

void batch_queue::report_activity(batch_activity activity, std::uint64_t number) {
  if (watch_ == nullptr) return;
  const note n{first_activity + static_cast<std::int64_t>(activity), static_cast<std::int64_t>(number)};
  session_->is_root() ? receive(0, n) : send(0, n.kind, n.value);
}

void batch_queue::report_done(std::uint64_t number) {
  if (session_->is_root()) return count_done(0, number);
  send(0, has_done, static_cast<std::int64_t>(number));
}

void batch_queue::count_done(int rank, std::uint64_t number) {
  ++batches_done_;
  items_done_ += plan_[number].item_count;
  if (watch_ != nullptr) watch_->note_finished(rank, number);
  if (!dealer_) return;
  dealer_->done(rank, number, steady_seconds());
  if (dealer_->has_waiting()) answer_waiting();
}

void batch_queue::report_failure(const failure& f) {
  messages_.send(0, tag_failure, static_cast<char>(f.status) + std::string(f.what()));
}

void batch_queue::stop(int signal) {
  if (stopped_by_ != 0) return;
  if (!session_->is_root()) send(0, stops, signal);
  begin_stop(signal);
}

void batch_queue::pause() { begin_stop(0); }

/// `signal` 0: a pause, which a signal may follow.
void batch_queue::begin_stop(int signal) {
  if (stopped_by_ != 0 || (stopped_ && signal == 0)) return;
  stopped_ = true;
  stopped_by_ = signal;
  exhausted_ = true;
  granted_.clear();
  if (dealer_) {
    // Ranks that wait are answered now: no message may be sent after the last rank has left.
    dealer_->stop();
    answer_waiting();
  }
  for (int r = 1; session_->is_root() && r < session_->size(); ++r) send(r, stops, signal);
}

void batch_queue::leave() {
  if (left_) return;
  left_ = true;
  if (session_->is_root()) return count_left();
  send(0, has_left, 0);
}

void batch_queue::count_left() {
  if (++ranks_left_ < session_->size()) return;
  finished_ = true;
  all_done_ = batches_done_ == pending_in_all_;
  for (int r = 1; r < session_->size(); ++r) send(r, all_have_left, all_done_ ? 1 : 0);
}

}  // namespace voxherd
