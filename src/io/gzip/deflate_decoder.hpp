#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "src/io/gzip/huffman_table.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

/// Maximum distance of a match, bytes.
constexpr std::size_t deflate_window = 32768;

/// Inflates a gzip file from any block or member on; resumes where it paused. The output is 16-bit symbols while the
/// preceding 32 KiB are unknown (marked_window.hpp), otherwise bytes.
class deflate_decoder {
 public:
  /// Number of symbols that a match may write beyond the end of the output.
  static constexpr std::size_t overshoot = 258 + 32;

  /// The start of a block or a member.
  struct place {
    std::uint64_t bit = 0;
    bool before_member = true;
    bool operator==(const place&) const = default;
  };
  deflate_decoder(const input_file& file, place from);

  enum class pause {
    output_full,
    at_limit,      ///< at the first block or member that starts at or after the limit
    member_end,    ///< the footer has been read
    member_begin,  ///< no match may refer to data before this point
    stream_end,
    damaged,  ///< or truncated
  };
  /// Appends to `out`, at most up to `end`. Matches may refer back to `history`; the 32 KiB before `out` that lie after
  /// `history` must be readable. `limit` is a bit offset in the file. Throws failure (disk).
  template <class Symbol>
  pause run(Symbol*& out, Symbol* end, const Symbol* history, std::uint64_t limit);

  /// Valid after at_limit.
  place where() const { return {in_.position(), phase_ == phase::before_member}; }
  /// Valid after member_end.
  std::uint32_t checksum() const { return checksum_; }
  std::uint32_t length() const { return length_; }
  /// Valid after stream_end: bytes of the file up to the end of the last member.
  std::uint64_t members_end() const { return members_end_; }

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
  std::uint64_t members_end_;
  std::uint32_t stored_left_ = 0, checksum_ = 0, length_ = 0;
  std::unique_ptr<huffman_tables> tables_;
};

/// Finds the first bit offset in [from, end) at which a block or a gzip member probably starts: a valid header of a
/// block with dynamic codes, a stored block followed by such a header, or a gzip member header. Does not find final
/// blocks or blocks with fixed codes, which have too few recognisable bits. The result is a guess. Throws failure
/// (disk).
std::optional<deflate_decoder::place> find_deflate_block(const input_file& file, std::uint64_t from, std::uint64_t end);

/// Whether the non-final stored blocks at bit offsets `bit` and `other` have the same contents: the padding bits
/// between a stored block's header and its first byte make its start ambiguous. Throws failure (disk).
bool is_same_stored_block(const input_file& file, std::uint64_t bit, std::uint64_t other);

}  // namespace voxherd
