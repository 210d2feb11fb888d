#include <zlib.h>

#include <new>
#include <string_view>

#include "src/io/gzip/member_inflater.hpp"

namespace voxherd {

namespace {

/// In the words of isal_inflater.cpp where that knows them too.
const char* describe_error(std::string_view message) {
  if (message == "invalid distance too far back") return "distance too far back";
  if (message.starts_with("incorrect header")) return "not a gzip header";
  if (message.starts_with("unknown")) return "unknown compression method or header flags";
  if (message.find("check") != message.npos || message.find("crc") != message.npos) return "wrong checksum or length";
  return "invalid block";
}

}  // namespace

struct member_inflater::state {
  z_stream z{};
  bool complete = false;
  const char* damage = nullptr;
};

member_inflater::member_inflater() : state_(std::make_unique<state>()) {
  constexpr int only_gzip = 16;
  if (inflateInit2(&state_->z, MAX_WBITS + only_gzip) != Z_OK) throw std::bad_alloc();
}
member_inflater::~member_inflater() { inflateEnd(&state_->z); }

void member_inflater::begin() {
  inflateReset(&state_->z);
  state_->complete = false;
  state_->damage = nullptr;
}

void member_inflater::set_input(const unsigned char* bytes, std::size_t count) {
  state_->z.next_in = const_cast<unsigned char*>(bytes);
  state_->z.avail_in = static_cast<uInt>(count);
}

std::size_t member_inflater::unused_input() const { return state_->z.avail_in; }

std::size_t member_inflater::inflate(unsigned char* out, std::size_t count) {
  state& s = *state_;
  s.z.next_out = out;
  s.z.avail_out = static_cast<uInt>(count);
  const int code = ::inflate(&s.z, Z_NO_FLUSH);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  s.complete = code == Z_STREAM_END;
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    s.damage = describe_error(s.z.msg != nullptr ? s.z.msg : "");
  return count - s.z.avail_out;
}

bool member_inflater::is_complete() const { return state_->complete; }

const char* member_inflater::damage() const { return state_->damage; }

std::uint32_t gzip_checksum(std::uint32_t before, const std::uint8_t* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes, count));
}

}  // namespace voxherd
