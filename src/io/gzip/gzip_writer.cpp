#include "src/io/gzip/gzip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <utility>

#include "core/threads.hpp"
#include "src/io/gzip/member_inflater.hpp"
#include "src/io/gzip/piece_deflater.hpp"

namespace voxherd {

namespace {

/// deflate, no name, no time, no operating system: the same for all files.
constexpr std::array<std::uint8_t, 10> member_header{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

using member_trailer = std::array<std::uint8_t, 8>;

/// CRC-32 and length modulo 2^32, little-endian.
member_trailer make_trailer(std::uint32_t checksum, std::uint64_t bytes) {
  member_trailer trailer;
  for (unsigned i = 0; i < 4; ++i) {
    trailer[i] = static_cast<std::uint8_t>(checksum >> (8 * i));
    trailer[i + 4] = static_cast<std::uint8_t>(bytes >> (8 * i));
  }
  return trailer;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  return gzip_checksum(0, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// Threads that compress at this moment for all files, beside those that write.
std::atomic<int> busy_helpers{0};

/// One of the threads that may compress, until it is destroyed.
class helper_permit {
 public:
  helper_permit() : granted_(busy_helpers.fetch_add(1) < max_compression_threads() - 1) {
    if (!granted_) --busy_helpers;
  }
  ~helper_permit() {
    if (granted_) --busy_helpers;
  }
  helper_permit(const helper_permit&) = delete;
  helper_permit& operator=(const helper_permit&) = delete;
  explicit operator bool() const { return granted_; }

 private:
  bool granted_;
};

struct gzip_piece {
  std::vector<std::byte> plain, packed;
  std::size_t bytes = 0;  ///< of plain, which is given back when packed is complete
  std::uint32_t checksum = 0;
  bool is_last = false, is_ready = false;
  std::exception_ptr error;

  void compress(piece_deflater& deflater) noexcept {
    try {
      bytes = plain.size();
      checksum = checksum_of(plain);
      deflater.deflate(plain, is_last, packed);
      plain = {};
    } catch (...) {
      error = std::current_exception();
    }
  }
};

}  // namespace

struct gzip_writer::state {
  explicit state(sink s) : out(std::move(s)) {}

  // On the thread that writes.

  void write(std::span<const std::byte> data) {
    while (!data.empty()) {
      const std::size_t n = std::min(data.size(), piece_bytes - next.size());
      if (next.empty()) next.reserve(std::min(piece_bytes, data.size()));
      next.insert(next.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(n));
      data = data.subspan(n);
      if (next.size() == piece_bytes) submit(false);
    }
  }

  void submit(bool is_last) {
    auto piece = std::make_unique<gzip_piece>();
    piece->plain = std::exchange(next, {});
    piece->is_last = is_last;
    {
      const std::lock_guard turn(lock);
      waiting.push_back(piece.get());
      pieces.push_back(std::move(piece));
    }
    if (!is_last) start_helper();
    const std::size_t max_pieces = is_last ? 0 : static_cast<std::size_t>(2 * max_compression_threads());
    write_ready();
    while (pieces.size() > max_pieces) {
      help();
      write_ready();
    }
  }

  /// If a core is free. A helper ends when no piece is waiting.
  void start_helper() {
    auto permit = std::make_shared<helper_permit>();
    if (!*permit) return;
    std::erase_if(helpers, [](const std::future<void>& helper) {
      return helper.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
    const auto run = [this, permit]() mutable {
      const auto held = std::move(permit);
      work();
    };
    for (auto& helper : start_helpers(1, run)) helpers.push_back(std::move(helper));
  }

  /// Compresses a piece, or waits for the first one if helpers have all.
  void help() {
    if (gzip_piece* piece = take(); piece != nullptr) {
      compress(*piece, own);
      return;
    }
    std::unique_lock turn(lock);
    changed.wait(turn, [this] { return pieces.front()->is_ready; });
  }

  void write_ready() {
    while (auto piece = take_ready()) {
      if (piece->error) std::rethrow_exception(piece->error);
      if (!has_header) emit_header();
      out(piece->packed);
      checksum =
          static_cast<std::uint32_t>(crc32_combine(checksum, piece->checksum, static_cast<z_off_t>(piece->bytes)));
      bytes += piece->bytes;
    }
  }

  void emit_header() {
    out(std::as_bytes(std::span(member_header)));
    has_header = true;
  }

  std::unique_ptr<gzip_piece> take_ready() {
    const std::lock_guard turn(lock);
    if (pieces.empty() || !pieces.front()->is_ready) return nullptr;
    auto first = std::move(pieces.front());
    pieces.pop_front();
    return first;
  }

  // On any thread.

  void work() {
    piece_deflater deflater;
    for (gzip_piece* piece = take(); piece != nullptr; piece = take()) compress(*piece, deflater);
  }

  gzip_piece* take() {
    const std::lock_guard turn(lock);
    if (waiting.empty()) return nullptr;
    gzip_piece* piece = waiting.front();
    waiting.pop_front();
    return piece;
  }

  void compress(gzip_piece& piece, piece_deflater& deflater) {
    piece.compress(deflater);
    {
      const std::lock_guard turn(lock);
      piece.is_ready = true;
    }
    changed.notify_one();
  }

  void cancel() {
    const std::lock_guard turn(lock);
    waiting.clear();
  }

  sink out;
  piece_deflater own;           ///< of the thread that writes
  std::vector<std::byte> next;  ///< piece that is not full yet
  std::uint32_t checksum = 0;   ///< of what was written
  std::uint64_t bytes = 0;
  bool has_header = false;

  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::unique_ptr<gzip_piece>> pieces;  ///< not written yet, in their order
  std::deque<gzip_piece*> waiting;                 ///< of these, the ones that no thread has taken
  std::vector<std::future<void>> helpers;          ///< destroyed first, which waits for them
};

gzip_writer::gzip_writer(sink out) : state_(std::make_unique<state>(std::move(out))) {}

gzip_writer::~gzip_writer() {
  if (state_ != nullptr) state_->cancel();
}

void gzip_writer::write(const void* data, std::size_t bytes) {
  state_->write({static_cast<const std::byte*>(data), bytes});
}

void gzip_writer::finish() {
  state& s = *state_;
  s.submit(true);
  const member_trailer trailer = make_trailer(s.checksum, s.bytes);
  s.out(std::as_bytes(std::span(trailer)));
}

std::vector<std::byte> gzip_member(std::span<const std::byte> plain) {
  const auto header = std::as_bytes(std::span(member_header));
  std::vector<std::byte> member(header.begin(), header.end());
  piece_deflater().deflate(plain, true, member);
  const member_trailer trailer = make_trailer(checksum_of(plain), plain.size());
  const auto end = std::as_bytes(std::span(trailer));
  member.insert(member.end(), end.begin(), end.end());
  return member;
}

}  // namespace voxherd
