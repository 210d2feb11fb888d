#pragma once

#include <cstdint>
#include <memory>

#include "src/io/gzip/bit_input.hpp"
#include "src/io/gzip/huffman_table.hpp"

namespace voxherd {

/// How far back a match reaches.
constexpr std::size_t deflate_window = 32768;

/// Inflates a gzip file from any block or member on, and goes on where it paused. Bytes are written as Symbol: as
/// 16 bits each where what lies before the start is not known yet (marked_window.hpp), else as they are.
class deflate_decoder {
 public:
  /// A match may end, and its copying write, that many symbols beyond the end of the room given.
  static constexpr std::size_t overshoot = 258 + 32;

  /// Where a block or a member begins.
  struct place {
    std::uint64_t bit = 0;
    bool before_member = true;
    bool operator==(const place&) const = default;
  };
  deflate_decoder(const input_file& file, place from);

  enum class pause {
    output_full,
    at_limit,      ///< at the first block or member that begins at or behind the limit
    member_end,    ///< the footer has been read
    member_begin,  ///< matches do not reach further back than this
    stream_end,
    damaged,  ///< or truncated
  };
  /// Writes to `out` on, at most until `end`; matches reach back to `history`. Before history there must be nothing
  /// else: 32 KiB before `out` are read where history allows. `limit` is a bit of the file. Throws failure (disk).
  template <class Symbol>
  pause run(Symbol*& out, Symbol* end, const Symbol* history, std::uint64_t limit);

  /// After at_limit.
  place where() const { return {in_.position(), phase_ == phase::before_member}; }
  /// After member_end.
  std::uint32_t checksum() const { return checksum_; }
  std::uint32_t length() const { return length_; }

 private:
  enum class phase { before_member, before_block, stored, coded };
  template <class Symbol>
  bool copy_stored(Symbol*& out, Symbol* end);
  enum class block { over, paused, bad };
  template <class Symbol>
  block decode(Symbol*& out, Symbol* end, const Symbol* history);
  bool begin_block();
  pause begin_member();
  pause end_member();

  bit_input in_;
  phase phase_;
  bool final_ = false;
  std::uint32_t stored_left_ = 0, checksum_ = 0, length_ = 0;
  std::unique_ptr<huffman_tables> tables_;
};

}  // namespace voxherd
