#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/io/gzip/deflate_decoder.hpp"

namespace voxherd {

/// Buffers for decoders: `room` symbols, 32 KiB of history before them. Given back they are used again, since new
/// memory costs more than filling it.
template <class Symbol>
class history_buffers {
 public:
  explicit history_buffers(std::size_t room) : room_(room) {}
  std::unique_ptr<Symbol[]> take();
  void give_back(std::unique_ptr<Symbol[]> buffer);

 private:
  std::size_t room_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Symbol[]>> spare_;
};

struct piece_buffers {
  explicit piece_buffers(std::size_t piece_room) : room(piece_room), marked(piece_room), plain(piece_room) {}
  std::size_t room;
  history_buffers<std::uint16_t> marked;  ///< their history are marks
  history_buffers<std::uint8_t> plain;
};

using byte_window = std::vector<std::uint8_t>;

/// What one decoder gives without a break: first symbols that may be marks, then, from where 32 KiB without a mark lie
/// behind or a member begins, bytes.
struct inflated_piece {
  /// What lies before is not known.
  static inflated_piece after_unknown(piece_buffers& buffers);
  /// `window` lies before, its last `known` bytes belong to the member.
  static inflated_piece after(const byte_window& window, std::size_t known, piece_buffers& buffers);
  void give_back(piece_buffers& buffers);

  std::size_t count() const { return marked_count + plain_count; }
  const std::uint16_t* symbols() const { return marked.get() + deflate_window; }
  const std::uint8_t* bytes() const { return plain.get() + deflate_window; }
  /// The last 32 KiB, given those before the piece.
  void find_window(const byte_window& before, byte_window& after) const;
  /// How many of them belong to the last member, given how many of those before do.
  std::size_t known_after(std::size_t known_before) const;

  struct member_end {
    std::size_t at;  ///< symbols of the piece before it
    std::uint32_t checksum, length;
  };
  std::unique_ptr<std::uint16_t[]> marked;
  std::unique_ptr<std::uint8_t[]> plain;
  std::size_t marked_count = 0, plain_count = 0;
  std::size_t history = 0;  ///< where in `plain` matches begin
  std::vector<member_end> ends;
  std::optional<std::size_t> member_begin;  ///< the last one's
};

/// Goes on filling a piece until the limit (bit of the file), the end of the stream, damage, or a full piece; looks
/// damaged, too, once `quit` is set. Throws failure (disk).
deflate_decoder::pause fill_piece(deflate_decoder& decoder, std::uint64_t limit, piece_buffers& buffers,
                                  const std::atomic<bool>& quit, inflated_piece& piece);

}  // namespace voxherd
