#include "src/io/gzip/inflated_piece.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/io/gzip/member_inflater.hpp"

namespace voxherd {

namespace {

/// Symbols processed together; the compiler vectorises over them.
constexpr std::size_t block = 32;

std::uint16_t all_of(const std::uint16_t* symbols) {
  std::uint16_t any = 0;
  for (std::size_t i = 0; i < block; ++i) any |= symbols[i];
  return any;
}

}  // namespace

void write_marks(std::uint16_t* window) {
  for (std::size_t i = 0; i < deflate_window; ++i) window[i] = static_cast<std::uint16_t>(first_mark + i);
}

bool has_marks(const std::uint16_t* symbols, std::size_t count) {
  // From the end: marks are most likely there.
  for (; count >= block; count -= block) {
    if (all_of(symbols + count - block) >= first_mark) return true;
  }
  return std::any_of(symbols, symbols + count, [](std::uint16_t s) { return s >= first_mark; });
}

bool has_marks_before(const std::uint16_t* symbols, std::size_t count, std::size_t known) {
  const std::size_t first_known = first_mark + deflate_window - known;
  return std::any_of(symbols, symbols + count, [&](std::uint16_t s) { return s >= first_mark && s < first_known; });
}

mark_replacer::mark_replacer(const std::uint8_t* window) : bytes_(0x10000) {
  std::iota(bytes_.begin(), bytes_.begin() + 256, std::uint8_t{0});
  std::copy_n(window, deflate_window, bytes_.begin() + first_mark);
}

void mark_replacer::replace(const std::uint16_t* symbols, std::size_t count, std::uint8_t* out) const {
  const std::uint8_t* const byte_of = bytes_.data();
  const std::size_t in_blocks = count / block * block;
  for (std::size_t i = 0; i < in_blocks; i += block) {
    const std::uint16_t* const from = symbols + i;
    std::uint8_t* const to = out + i;
    if (all_of(from) < first_mark) {
      for (std::size_t k = 0; k < block; ++k) to[k] = static_cast<std::uint8_t>(from[k]);
    } else {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < block; ++k) to[k] = byte_of[from[k]];
    }
  }
  for (std::size_t i = in_blocks; i < count; ++i) out[i] = byte_of[symbols[i]];
}

namespace {

/// Symbols decoded between checks whether marks remain and whether to quit.
constexpr std::size_t marked_at_once = std::size_t{1} << 16, plain_at_once = std::size_t{1} << 20;

void switch_to_bytes(inflated_piece& piece, piece_buffers& buffers) {
  piece.plain = buffers.plain.take();
  piece.history = 0;
}

template <class Symbol>
deflate_decoder::pause run(deflate_decoder& decoder, std::unique_ptr<Symbol[]>& buffer, std::size_t& count,
                           std::size_t most, std::size_t history, std::uint64_t limit) {
  Symbol* const begin = buffer.get() + deflate_window;
  Symbol* out = begin + count;
  const auto why = decoder.run(out, out + most, static_cast<const Symbol*>(buffer.get() + history), limit);
  count = static_cast<std::size_t>(out - begin);
  return why;
}

}  // namespace

template <class Symbol>
std::unique_ptr<Symbol[]> history_buffers<Symbol>::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      auto buffer = std::move(spare_.back());
      spare_.pop_back();
      return buffer;
    }
  }
  // Not zero-initialised: most pages of a buffer are never touched.
  std::unique_ptr<Symbol[]> buffer(new Symbol[deflate_window + room_ + deflate_decoder::overshoot]);
  if constexpr (sizeof(Symbol) == 2) {
    write_marks(buffer.get());
  } else {
    std::fill_n(buffer.get(), deflate_window, Symbol{0});
  }
  return buffer;
}

template <class Symbol>
void history_buffers<Symbol>::release(std::unique_ptr<Symbol[]> buffer) {
  if (!buffer) return;
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(buffer));
}

template class history_buffers<std::uint8_t>;
template class history_buffers<std::uint16_t>;

inflated_piece inflated_piece::after_unknown(piece_buffers& buffers) {
  inflated_piece piece;
  piece.marked = buffers.marked.take();
  return piece;
}

inflated_piece inflated_piece::after(const byte_window& window, std::size_t known, piece_buffers& buffers) {
  inflated_piece piece;
  piece.plain = buffers.plain.take();
  std::copy(window.begin(), window.end(), piece.plain.get());
  piece.history = deflate_window - known;
  return piece;
}

void inflated_piece::release(piece_buffers& buffers) {
  buffers.marked.release(std::move(marked));
  buffers.plain.release(std::move(plain));
}

void inflated_piece::find_window(const byte_window& before, byte_window& after) const {
  after.resize(deflate_window);
  if (plain) {
    std::copy_n(plain.get() + plain_count, deflate_window, after.begin());
  } else {
    mark_replacer(before.data()).replace(marked.get() + marked_count, deflate_window, after.data());
  }
}

std::size_t inflated_piece::known_after(std::size_t known_before) const {
  return std::min(deflate_window, member_begin ? count() - *member_begin : known_before + count());
}

deflate_decoder::pause fill_piece(deflate_decoder& decoder, std::uint64_t limit, piece_buffers& buffers,
                                  const std::atomic<bool>& quit, inflated_piece& piece) {
  using pause = deflate_decoder::pause;
  while (true) {
    const std::size_t room = buffers.room - piece.count();
    const pause why =
        piece.plain ? run(decoder, piece.plain, piece.plain_count, std::min(room, plain_at_once), piece.history, limit)
                    : run(decoder, piece.marked, piece.marked_count, std::min(room, marked_at_once), 0, limit);
    switch (why) {
      case pause::output_full:
        if (quit) return pause::damaged;
        if (piece.count() >= buffers.room) return pause::output_full;
        if (!piece.plain && piece.marked_count >= deflate_window &&
            !has_marks(piece.marked.get() + piece.marked_count, deflate_window)) {
          switch_to_bytes(piece, buffers);
          std::copy_n(piece.marked.get() + piece.marked_count, deflate_window, piece.plain.get());
        }
        break;
      case pause::member_end:
        piece.ends.push_back({piece.count(), decoder.checksum(), decoder.length()});
        if (piece.count() >= buffers.room) return pause::output_full;
        break;
      case pause::member_begin:
        if (!piece.plain) switch_to_bytes(piece, buffers);
        piece.member_begin = piece.count();
        piece.history = deflate_window + piece.plain_count;
        break;
      default:
        return why;
    }
  }
}

void piece_checksum::add_to_part(const std::uint8_t* bytes, std::size_t count) {
  part& p = parts_.back();
  p.sum = gzip_checksum(p.sum, bytes, count);
  p.bytes += count;
  count_ += count;
}

void piece_checksum::add(const std::uint8_t* bytes, std::size_t count) {
  while (parts_.size() <= ends_.size() && ends_[parts_.size() - 1].at <= count_ + count) {
    const std::size_t before = ends_[parts_.size() - 1].at - count_;
    add_to_part(bytes, before);
    bytes += before;
    count -= before;
    parts_.emplace_back();
  }
  add_to_part(bytes, count);
}

bool member_checker::add(const piece_checksum& piece) {
  for (std::size_t i = 0; i < piece.parts_.size(); ++i) {
    const auto& part = piece.parts_[i];
    member_.sum = static_cast<std::uint32_t>(crc32_combine(member_.sum, part.sum, static_cast<z_off_t>(part.bytes)));
    member_.bytes += part.bytes;
    if (i == piece.ends_.size()) break;
    if (member_.sum != piece.ends_[i].checksum || static_cast<std::uint32_t>(member_.bytes) != piece.ends_[i].length)
      return false;
    member_ = {};
  }
  return true;
}

}  // namespace voxherd
