#include <isa-l/crc.h>

#include "src/io/gzip/deflate_decoder.hpp"

namespace voxherd {

namespace {

constexpr unsigned has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16;

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
    sum_ = crc32_gzip_refl(sum_, &byte, 1);
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

/// RFC 1952, 2.3. Anything that is not a gzip header ends the stream.
deflate_decoder::pause deflate_decoder::begin_member() {
  if (!in_.fetch()) return pause::stream_end;
  header_bytes header(in_);
  const unsigned magic = header.take_two();
  if (in_.is_past_end() || magic != 0x8b1f) return pause::stream_end;
  const unsigned method = header.take(), flags = header.take();
  if (method != 8) return pause::damaged;
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
