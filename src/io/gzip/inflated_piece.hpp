#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/io/gzip/deflate_decoder.hpp"

namespace voxherd {

/// A 16-bit symbol is either a byte or a mark: a reference to one of the 32 KiB before the start of decoding, 0x8000
/// for the most distant (Kerbiriou and Chikhi 2019; Knespel and Brunst 2023).
constexpr std::uint16_t first_mark = 0x8000;
static_assert(first_mark + deflate_window == 0x10000);

/// Writes all marks in order, so that matches copy them as if they were the unknown bytes.
void write_marks(std::uint16_t* window);

/// Whether any of `count` symbols is a mark.
bool has_marks(const std::uint16_t* symbols, std::size_t count);
/// Whether any of `count` symbols is a mark of a byte before the last `known` bytes of the window.
bool has_marks_before(const std::uint16_t* symbols, std::size_t count, std::size_t known);

/// Replaces symbols by bytes.
class mark_replacer {
 public:
  /// `window`: the 32 KiB before the symbols.
  explicit mark_replacer(const std::uint8_t* window);
  void replace(const std::uint16_t* symbols, std::size_t count, std::uint8_t* out) const;

 private:
  std::vector<std::uint8_t> bytes_;  ///< indexed by symbol
};

/// Buffers for decoders: 32 KiB of history, then `room` symbols. Buffers are reused, because touching new memory costs
/// more than filling it.
template <class Symbol>
class history_buffers {
 public:
  explicit history_buffers(std::size_t room) : room_(room) {}
  std::unique_ptr<Symbol[]> take();
  void release(std::unique_ptr<Symbol[]> buffer);

 private:
  std::size_t room_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Symbol[]>> spare_;
};

struct piece_buffers {
  explicit piece_buffers(std::size_t piece_room) : room(piece_room), marked(piece_room), plain(piece_room) {}
  std::size_t room;
  history_buffers<std::uint16_t> marked;  ///< with marks as history
  history_buffers<std::uint8_t> plain;
};

using byte_window = std::vector<std::uint8_t>;

/// Contiguous output of one decoder: symbols that may be marks, followed by bytes from the point on where the last 32
/// KiB contain no marks or a member starts.
struct inflated_piece {
  /// A piece whose preceding bytes are unknown.
  static inflated_piece after_unknown(piece_buffers& buffers);
  /// A piece preceded by `window`, whose last `known` bytes belong to the current member.
  static inflated_piece after(const byte_window& window, std::size_t known, piece_buffers& buffers);
  void release(piece_buffers& buffers);

  std::size_t count() const { return marked_count + plain_count; }
  // Null if the piece has none.
  const std::uint16_t* symbols() const { return marked ? marked.get() + deflate_window : nullptr; }
  const std::uint8_t* bytes() const { return plain ? plain.get() + deflate_window : nullptr; }
  /// Computes the last 32 KiB after this piece, given the 32 KiB before it.
  void find_window(const byte_window& before, byte_window& after) const;
  /// How many of those bytes belong to the last member, given the same number before the piece.
  std::size_t known_after(std::size_t known_before) const;

  struct member_end {
    std::size_t at;  ///< number of symbols in the piece before it
    std::uint32_t checksum, length;
  };
  std::unique_ptr<std::uint16_t[]> marked;
  std::unique_ptr<std::uint8_t[]> plain;
  std::size_t marked_count = 0, plain_count = 0;
  std::size_t history = 0;  ///< index in `plain` of the first byte that matches may refer to
  std::vector<member_end> ends;
  std::optional<std::size_t> member_begin;  ///< begin of the last member that starts in this piece
};

/// Continues to fill a piece until the limit (bit offset in the file), the end of the stream, damage, or a full piece.
/// Also returns `damaged` after `quit` is set. Throws failure (disk).
deflate_decoder::pause fill_piece(deflate_decoder& decoder, std::uint64_t limit, piece_buffers& buffers,
                                  const std::atomic<bool>& quit, inflated_piece& piece);

/// Checksums of a piece, one for each part between member ends.
class piece_checksum {
 public:
  explicit piece_checksum(std::vector<inflated_piece::member_end> ends) : ends_(std::move(ends)) {}
  void add(const std::uint8_t* bytes, std::size_t count);

 private:
  friend class member_checker;
  struct part {
    std::uint64_t bytes = 0;
    std::uint32_t sum = 0;
  };
  void add_to_part(const std::uint8_t* bytes, std::size_t count);
  std::vector<inflated_piece::member_end> ends_;
  std::vector<part> parts_{1};
  std::size_t count_ = 0;
};

/// Combines the checksums of consecutive pieces and compares them with the footers of the members.
class member_checker {
 public:
  /// False if a member that ends in this piece does not match its footer.
  bool add(const piece_checksum& piece);

 private:
  piece_checksum::part member_;
};

}  // namespace voxherd
