#include "src/io/gzip/deflate_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "src/io/gzip/huffman_table.hpp"
#include "src/io/gzip/member_inflater.hpp"

namespace voxherd {

namespace {

/// May write up to 16 bytes more than requested.
template <class Symbol>
inline Symbol* copy_match(Symbol* out, std::size_t distance, std::size_t length) {
  constexpr std::size_t step = 16 / sizeof(Symbol);
  Symbol* const end = out + length;
  const Symbol* from = out - distance;
  if (distance < step) {
    // Repeat the pattern until no step reads what it writes.
    const std::size_t repeated = (step + distance - 1) / distance * distance;
    for (std::size_t i = 0; i < repeated; ++i) out[i] = from[i];
    out += repeated;
    from = out - repeated;
  }
  for (; out < end; out += step, from += step) std::memcpy(out, from, step * sizeof(Symbol));
  return end;
}

constexpr unsigned has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16, reserved_flags = 0xe0;

/// Reads the bytes of a gzip header and computes their checksum.
class header_bytes {
 public:
  explicit header_bytes(bit_input& in) : in_(in) {}
  /// Returns 0 after the end of the file; is_past_end() is then true.
  std::uint8_t take() {
    if (in_.next > in_.safe_end()) in_.fetch();
    if (in_.is_past_end()) return 0;
    in_.refill();
    const auto byte = static_cast<std::uint8_t>(in_.take(8));
    sum_ = gzip_checksum(sum_, &byte, 1);
    return byte;
  }
  unsigned take_two() {
    const unsigned low = take();
    return low | static_cast<unsigned>(take()) << 8;
  }
  void skip(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes && !in_.is_past_end(); ++i) (void)take();
  }
  void skip_text() {
    while (!in_.is_past_end() && take() != 0) {
    }
  }
  std::uint32_t sum() const { return sum_; }

 private:
  bit_input& in_;
  std::uint32_t sum_ = 0;
};

}  // namespace

deflate_decoder::deflate_decoder(const input_file& file, place from)
    : in_(file, from.bit),
      phase_(from.before_member ? phase::before_member : phase::before_block),
      members_end_(from.bit / 8),
      tables_(std::make_unique<huffman_tables>()) {}

bool deflate_decoder::begin_block() {
  if (!in_.fetch()) return false;
  in_.refill();
  final_ = in_.take(1) != 0;
  code_lengths lengths;
  switch (static_cast<block_type>(in_.take(2))) {
    case block_type::stored: {
      in_.drop(in_.count % 8);
      in_.refill();
      stored_left_ = in_.take(16);
      if ((stored_left_ ^ in_.take(16)) != 0xffff) return false;
      in_.unread();
      phase_ = phase::stored;
      return true;
    }
    case block_type::fixed:
      lengths = fixed_code_lengths();
      break;
    case block_type::dynamic:
      if (!read_code_lengths(in_, lengths)) return false;
      break;
    default:
      return false;
  }
  phase_ = phase::coded;
  return tables_->build(lengths);
}

/// Copies a stored block. False if it is incomplete: the file ends or the output is full.
template <class Symbol>
bool deflate_decoder::copy_stored(Symbol*& out, Symbol* end) {
  while (stored_left_ > 0 && out < end) {
    in_.fetch();
    if (in_.is_past_end() || in_.available() == 0) return false;
    const std::size_t n = std::min({std::size_t{stored_left_}, in_.available(), static_cast<std::size_t>(end - out)});
    std::copy_n(in_.next, n, out);
    in_.next += n;
    out += n;
    stored_left_ -= static_cast<std::uint32_t>(n);
  }
  return stored_left_ == 0;
}

template <class Symbol>
deflate_decoder::block deflate_decoder::decode(Symbol*& out, Symbol* end, const Symbol* history) {
  constexpr unsigned literal_mask = (1U << huffman_tables::literal_bits) - 1;
  constexpr unsigned distance_mask = (1U << huffman_tables::distance_bits) - 1;
  const std::uint32_t* const literals = tables_->literals();
  const std::uint32_t* const distances = tables_->distances();
  bit_cursor in = in_;
  Symbol* to = out;
  block found = block::paused;
  const auto put = [&](std::uint32_t entry) {
    *to++ = static_cast<Symbol>(entry >> 16 & 0xff);
    in.drop(huffman::bits_to_drop(entry));
  };
  while (true) {
    if (in.next > in_.safe_end()) {
      static_cast<bit_cursor&>(in_) = in;
      if (!in_.fetch()) {
        found = block::bad;
        break;
      }
      in = in_;
    }
    if (to >= end) break;
    in.refill();
    std::uint32_t entry = literals[in.bits & literal_mask];
    if ((entry & huffman::literal) != 0) {
      put(entry);
      entry = literals[in.bits & literal_mask];
      if ((entry & huffman::literal) != 0) {
        put(entry);
        entry = literals[in.bits & literal_mask];
        if ((entry & huffman::literal) != 0) {
          put(entry);
          continue;
        }
      }
    }
    // At least 34 bits are loaded.
    if ((entry & huffman::special) != 0) {
      if ((entry & huffman::second_table) != 0) {
        in.drop(huffman_tables::literal_bits);
        entry = literals[huffman::value(entry) + in.peek(huffman::code_bits(entry))];
        if ((entry & huffman::literal) != 0) {
          put(entry);
          continue;
        }
      }
      if ((entry & huffman::special) != 0) {
        in.drop(huffman::bits_to_drop(entry));
        found = (entry & huffman::end_of_block) != 0 ? block::over : block::bad;
        break;
      }
    }
    const auto with_extra = [&](std::uint32_t e) {
      const unsigned code = huffman::code_bits(e), all = huffman::bits_to_drop(e);
      const unsigned extra = static_cast<unsigned>((in.bits & ((std::uint64_t{1} << all) - 1)) >> code);
      in.drop(all);
      return huffman::value(e) + extra;
    };
    const std::size_t length = with_extra(entry);
    in.refill();
    entry = distances[in.bits & distance_mask];
    if ((entry & huffman::special) != 0) {
      if ((entry & huffman::second_table) != 0) {
        in.drop(huffman_tables::distance_bits);
        entry = distances[huffman::value(entry) + in.peek(huffman::code_bits(entry))];
      }
      if ((entry & huffman::special) != 0) {
        found = block::bad;
        break;
      }
    }
    const std::size_t distance = with_extra(entry);
    if (distance > static_cast<std::size_t>(to - history)) {
      found = block::bad;
      break;
    }
    to = copy_match(to, distance, length);
  }
  static_cast<bit_cursor&>(in_) = in;
  out = to;
  return found;
}

template <class Symbol>
deflate_decoder::pause deflate_decoder::run(Symbol*& out, Symbol* end, const Symbol* history, std::uint64_t limit) {
  while (true) {
    switch (phase_) {
      case phase::before_member:
        return in_.position() >= limit ? pause::at_limit : begin_member();
      case phase::before_block:
        if (in_.is_past_end()) return pause::damaged;
        if (in_.position() >= limit) return pause::at_limit;
        if (!begin_block()) return pause::damaged;
        break;
      case phase::stored:
        if (!copy_stored(out, end)) return out >= end ? pause::output_full : pause::damaged;
        if (final_) return end_member();
        phase_ = phase::before_block;
        break;
      case phase::coded: {
        const block found = decode(out, end, history);
        if (found == block::paused) return pause::output_full;
        if (found == block::bad || in_.is_past_end()) return pause::damaged;
        if (final_) return end_member();
        phase_ = phase::before_block;
        break;
      }
    }
  }
}

template deflate_decoder::pause deflate_decoder::run(std::uint8_t*&, std::uint8_t*, const std::uint8_t*, std::uint64_t);
template deflate_decoder::pause deflate_decoder::run(std::uint16_t*&, std::uint16_t*, const std::uint16_t*,
                                                     std::uint64_t);

deflate_decoder::pause deflate_decoder::end_member() {
  if (!in_.fetch()) return pause::damaged;
  in_.drop(in_.count % 8);
  in_.refill();
  checksum_ = in_.take(32);
  in_.refill();
  length_ = in_.take(32);
  if (in_.is_past_end()) return pause::damaged;
  members_end_ = in_.position() / 8;
  phase_ = phase::before_member;
  return pause::member_end;
}

/// RFC 1952, 2.3. Anything that is not a gzip header ends the stream.
deflate_decoder::pause deflate_decoder::begin_member() {
  if (!in_.fetch()) return pause::stream_end;
  header_bytes header(in_);
  const unsigned magic = header.take_two();
  if (in_.is_past_end() || magic != 0x8b1f) return pause::stream_end;
  const unsigned method = header.take(), flags = header.take();
  if (method != 8 || (flags & reserved_flags) != 0) return pause::damaged;
  header.skip(6);  // modification time, compressor flags, operating system
  if ((flags & has_extra) != 0) header.skip(header.take_two());
  if ((flags & has_name) != 0) header.skip_text();
  if ((flags & has_comment) != 0) header.skip_text();
  const unsigned expected = header.sum() & 0xffff;
  if ((flags & has_checksum) != 0 && header.take_two() != expected) return pause::damaged;
  if (in_.is_past_end()) return pause::damaged;
  phase_ = phase::before_block;
  return pause::member_begin;
}

}  // namespace voxherd
