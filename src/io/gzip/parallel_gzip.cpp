#include "src/io/gzip/gzip.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <queue>

#include "core/threads.hpp"
#include "src/io/gzip/deflate_decoder.hpp"
#include "src/io/gzip/inflated_piece.hpp"

namespace voxherd {

namespace {

using pause = deflate_decoder::pause;

/// Bytes passed to the sink at a time; they stay in the cache between the replacement of marks and the sink.
constexpr std::size_t sink_bytes = std::size_t{1} << 16;

/// A chunk inflated from a guessed block start.
struct guessed_chunk {
  std::uint64_t end = 0;  ///< bit offset in the file; blocks that start before it belong to the chunk
  std::optional<deflate_decoder::place> start;
  std::optional<deflate_decoder> decoder;
  pause why = pause::damaged;
  inflated_piece piece;
};

/// A piece whose position is known; its marks have to be replaced and its bytes passed to the sink.
struct linked_piece {
  std::uint64_t position = 0;
  std::shared_ptr<const byte_window> before;
  inflated_piece piece;
  piece_checksum* checksum = nullptr;
};

/// The threads and their shared state. One thread at a time inflates sequentially what could not be guessed.
class inflating_team {
 public:
  inflating_team(const input_file& file, const parallel_gzip_settings& settings, const std::atomic<bool>& stop,
                 inflated_sink& sink)
      : file_(file),
        settings_(settings),
        stop_(stop),
        sink_(sink),
        chunks_(std::max<std::uint64_t>(1, (file.size() + settings.chunk_bytes - 1) / settings.chunk_bytes)),
        max_in_flight_(2 * settings.threads + 2),
        buffers_(settings.piece_bytes) {}

  parallel_gzip_result run() {
    auto others = start_helpers(std::max(1u, settings_.threads) - 1, [this] { work(); });
    work();
    for (auto& other : others) other.get();
    if (error_) std::rethrow_exception(error_);
    result_.complete = ended_ && !quit_ && are_members_right();
    result_.bytes = position_;
    return result_;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    try {
      while (!is_over()) {
        if (!run_step(lock)) {
          changed_.wait_for(lock, std::chrono::milliseconds(20));  // setting `stop` does not notify
        } else {
          changed_.notify_all();
        }
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!error_) error_ = std::current_exception();
      quit();
    }
  }

  bool is_over() {
    if (stop_ && !quit_) quit();
    return quit_ || (ended_ && pending_ == 0);
  }

  void quit() {
    quit_ = true;
    changed_.notify_all();
  }

  /// Prefers the step closest to completion. False if there is nothing to do yet.
  bool run_step(std::unique_lock<std::mutex>& lock) {
    if (in_order_.due && pending_ < max_in_flight_) {
      inflate_in_order(lock);
    } else if (!linked_.empty()) {
      pass_on(lock);
    } else if (!ended_ && next_guess_ < chunks_ && next_guess_ - next_link_ + pending_ < max_in_flight_) {
      guess(lock);
    } else {
      return false;
    }
    return true;
  }

  std::uint64_t chunk_end(std::uint64_t chunk) const {
    return chunk + 1 < chunks_ ? (chunk + 1) * settings_.chunk_bytes * 8 : std::numeric_limits<std::uint64_t>::max();
  }

  void guess(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t index = next_guess_++;
    lock.unlock();
    const std::uint64_t ahead = index + settings_.threads;
    file_.will_need(ahead * settings_.chunk_bytes, settings_.chunk_bytes);
    guessed_chunk chunk;
    chunk.end = chunk_end(index);
    chunk.piece = inflated_piece::after_unknown(buffers_);
    const std::uint64_t searched_end = std::min(chunk.end, 8 * file_.size());
    for (std::uint64_t bit = index * settings_.chunk_bytes * 8; !quit_;) {
      chunk.start = index == 0 ? deflate_decoder::place{} : find_deflate_block(file_, bit, searched_end);
      if (!chunk.start) break;
      bit = chunk.start->bit + 1;
      chunk.decoder.emplace(file_, *chunk.start);
      chunk.why = fill_piece(*chunk.decoder, chunk.end, buffers_, quit_, chunk.piece);
      if (chunk.why != pause::damaged) break;
      chunk.start.reset();
      chunk.piece.release(buffers_);
      chunk.piece = inflated_piece::after_unknown(buffers_);
      if (index == 0) break;
    }
    lock.lock();
    guessed_.emplace(index, std::move(chunk));
    link(lock);
  }

  bool starts_here(const guessed_chunk& chunk) const {
    return *chunk.start == linked_end_ || (!chunk.start->before_member && !linked_end_.before_member &&
                                           is_same_stored_block(file_, linked_end_.bit, chunk.start->bit));
  }

  void drop_first_guess() {
    guessed_.begin()->second.piece.release(buffers_);
    guessed_.erase(guessed_.begin());
    ++next_link_;
  }

  /// Gives consecutive guessed chunks their positions, until part of the file has to be inflated in order.
  void link(std::unique_lock<std::mutex>& lock) {
    if (is_linking_ || in_order_.running) return;  // the linking thread also handles chunks that arrive meanwhile
    is_linking_ = true;
    while (!ended_ && !quit_ && !in_order_.due && guessed_.contains(next_link_)) {
      guessed_chunk& chunk = guessed_.at(next_link_);
      if (linked_end_.bit >= chunk.end) {
        drop_first_guess();
      } else if (chunk.start && starts_here(chunk)) {
        chunk.start.reset();
        accept(lock, std::move(chunk.piece));
        continue_from(chunk.why, std::move(chunk.decoder), chunk.end);
      } else {
        // A later guess may still be correct: the part before it is missing, such as a block with fixed codes.
        if (chunk.start && chunk.start->bit <= linked_end_.bit) chunk.start.reset();
        in_order_.limit = chunk.start ? chunk.start->bit : chunk.end;
        in_order_.decoder.reset();
        in_order_.due = true;
      }
    }
    is_linking_ = false;
  }

  void continue_from(pause why, std::optional<deflate_decoder> decoder, std::uint64_t limit) {
    if (why == pause::stream_end) {
      ended_ = true;
      result_.bytes_after = file_.size() - std::min(file_.size(), decoder->members_end());
    } else if (why == pause::at_limit) {
      linked_end_ = decoder->where();
    } else {
      in_order_.decoder = std::move(decoder);
      in_order_.limit = limit;
      in_order_.due = true;
    }
  }

  void inflate_in_order(std::unique_lock<std::mutex>& lock) {
    in_order_.due = false;
    in_order_.running = true;
    auto decoder = std::move(in_order_.decoder);
    in_order_.decoder.reset();
    const std::uint64_t limit = in_order_.limit;
    const auto window = window_;
    const std::size_t known = known_;
    const deflate_decoder::place from = linked_end_;
    lock.unlock();
    if (!decoder) decoder.emplace(file_, from);
    inflated_piece piece = inflated_piece::after(*window, known, buffers_);
    const pause why = fill_piece(*decoder, limit, buffers_, quit_, piece);
    lock.lock();
    if (why == pause::damaged) return quit();
    result_.bytes_in_order += piece.count();
    accept(lock, std::move(piece));
    in_order_.running = false;
    continue_from(why, std::move(decoder), limit);
    link(lock);
  }

  /// Appends the next piece of the file. Quits if it refers to bytes before the start of its member. Other threads
  /// continue meanwhile, because only one thread at a time links.
  void accept(std::unique_lock<std::mutex>& lock, inflated_piece piece) {
    lock.unlock();
    linked_piece linked;
    linked.position = position_;
    linked.before = window_;
    const bool is_bad = known_ < deflate_window && has_marks_before(piece.symbols(), piece.marked_count, known_);
    auto after = std::make_shared<byte_window>();
    piece.find_window(*window_, *after);
    lock.lock();
    if (is_bad) return quit();
    window_ = std::move(after);
    known_ = piece.known_after(known_);
    position_ += piece.count();
    result_.bytes_marked += piece.marked_count;
    linked.checksum = &checksums_.emplace_back(std::move(piece.ends));
    linked.piece = std::move(piece);
    linked_.push(std::move(linked));
    ++pending_;
    changed_.notify_one();
  }

  void pass_on(std::unique_lock<std::mutex>& lock) {
    linked_piece linked = std::move(linked_.front());
    linked_.pop();
    lock.unlock();
    std::vector<std::uint8_t> filled(std::min(sink_bytes, linked.piece.marked_count));
    std::uint64_t position = linked.position;
    const auto give = [&](const std::uint8_t* bytes, std::size_t count) {
      linked.checksum->add(bytes, count);
      if (count > 0 && !quit_) sink_.take(position, reinterpret_cast<const std::byte*>(bytes), count);
      position += count;
    };
    const inflated_piece& piece = linked.piece;
    const mark_replacer marks(linked.before->data());
    for (std::size_t done = 0; done < piece.marked_count; done += filled.size()) {
      const std::size_t count = std::min(filled.size(), piece.marked_count - done);
      marks.replace(piece.symbols() + done, count, filled.data());
      give(filled.data(), count);
    }
    for (std::size_t done = 0; done < piece.plain_count; done += sink_bytes)
      give(piece.bytes() + done, std::min(sink_bytes, piece.plain_count - done));
    if (piece.count() == 0) give(nullptr, 0);
    linked.piece.release(buffers_);
    lock.lock();
    --pending_;
  }

  bool are_members_right() {
    member_checker checker;
    return std::all_of(checksums_.begin(), checksums_.end(), [&](const auto& sum) { return checker.add(sum); });
  }

  const input_file& file_;
  const parallel_gzip_settings settings_;
  const std::atomic<bool>& stop_;
  inflated_sink& sink_;
  const std::uint64_t chunks_;
  const std::uint64_t max_in_flight_;
  piece_buffers buffers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> quit_{false};
  std::exception_ptr error_;
  std::uint64_t next_guess_ = 0, next_link_ = 0;  ///< chunk indices
  std::map<std::uint64_t, guessed_chunk> guessed_;
  struct {
    bool due = false, running = false;
    std::optional<deflate_decoder> decoder;  ///< empty: start a new one at linked_end_
    std::uint64_t limit = 0;
  } in_order_;
  deflate_decoder::place linked_end_;  ///< end of the pieces whose positions are known
  std::uint64_t position_ = 0;
  std::shared_ptr<const byte_window> window_ = std::make_shared<byte_window>(deflate_window);
  std::size_t known_ = 0;
  bool is_linking_ = false;
  bool ended_ = false;
  std::queue<linked_piece> linked_;
  std::uint64_t pending_ = 0;  ///< pieces with known positions that have not been passed on completely
  std::deque<piece_checksum> checksums_;
  parallel_gzip_result result_;
};

}  // namespace

parallel_gzip_result inflate_in_parallel(const input_file& file, const parallel_gzip_settings& settings,
                                         const std::atomic<bool>& stop, inflated_sink& sink) {
  return inflating_team(file, settings, stop, sink).run();
}

}  // namespace voxherd
