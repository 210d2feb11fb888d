#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "src/io/gzip/member_inflater.hpp"

namespace voxherd {

namespace {

const char* describe_error(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "distance too far back";
    case ISAL_INVALID_WRAPPER:
      return "not a gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method or header flags";
    case ISAL_INCORRECT_CHECKSUM:
      return "wrong checksum or length";
    default:
      return "unknown reason";
  }
}

}  // namespace

struct member_inflater::state {
  inflate_state z{};
  isal_gzip_header header{};
  bool in_header = true;
  int error = 0;

  /// Inflating would also read the header, but loses its position if the input ends within it.
  bool read_header() {
    const int code = isal_read_gzip_header(&z, &header);
    if (code < 0) error = code;
    constexpr std::uint32_t reserved_flags = 0xe0;  // RFC 1952 asks to refuse them, as zlib does
    if (code == ISAL_DECOMP_OK && (header.flags & reserved_flags) != 0) error = ISAL_UNSUPPORTED_METHOD;
    in_header = code != ISAL_DECOMP_OK;
    return error == 0 && !in_header;
  }
};

member_inflater::member_inflater() : state_(std::make_unique<state>()) {
  isal_inflate_init(&state_->z);
  begin();
}
member_inflater::~member_inflater() = default;

void member_inflater::begin() {
  isal_inflate_reset(&state_->z);
  state_->z.crc_flag = ISAL_GZIP;
  isal_gzip_header_init(&state_->header);
  state_->in_header = true;
  state_->error = 0;
}

void member_inflater::set_input(const unsigned char* bytes, std::size_t count) {
  state_->z.next_in = const_cast<unsigned char*>(bytes);
  state_->z.avail_in = static_cast<std::uint32_t>(count);
}

std::size_t member_inflater::unused_input() const { return state_->z.avail_in; }

std::size_t member_inflater::inflate(unsigned char* out, std::size_t count) {
  state& s = *state_;
  if (s.in_header && (s.z.avail_in == 0 || !s.read_header())) return 0;
  s.z.next_out = out;
  s.z.avail_out = static_cast<std::uint32_t>(count);
  const std::uint32_t unused = s.z.avail_in;
  const int code = isal_inflate(&s.z);
  if (code < 0) s.error = code;
  // Neither reads nor writes, and never will.
  if (code >= 0 && !is_complete() && unused > 0 && s.z.avail_in == unused && s.z.avail_out == count)
    s.error = ISAL_INVALID_BLOCK;
  return count - s.z.avail_out;
}

bool member_inflater::is_complete() const { return state_->z.block_state == ISAL_BLOCK_FINISH; }

const char* member_inflater::damage() const { return state_->error == 0 ? nullptr : describe_error(state_->error); }

std::uint32_t gzip_checksum(std::uint32_t before, const std::uint8_t* bytes, std::size_t count) {
  return crc32_gzip_refl(before, bytes, count);
}

}  // namespace voxherd
