#include <zlib.h>

#include <new>

#include "src/io/gzip/piece_deflater.hpp"

namespace voxherd {

namespace {

constexpr int level = 4;  // higher levels are much slower and hardly reduce float32 maps
constexpr int without_header = -MAX_WBITS, memory_level = 8;
constexpr std::size_t room_bytes = std::size_t{1} << 16;

}  // namespace

struct piece_deflater::state {
  z_stream z{};
};

piece_deflater::piece_deflater() : state_(std::make_unique<state>()) {
  if (deflateInit2(&state_->z, level, Z_DEFLATED, without_header, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}
piece_deflater::~piece_deflater() { deflateEnd(&state_->z); }

void piece_deflater::deflate(std::span<const std::byte> piece, bool is_last, std::vector<std::byte>& out) {
  z_stream& z = state_->z;
  deflateReset(&z);
  // zlib reads only, but its field is not const.
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
  z.avail_in = static_cast<uInt>(piece.size());
  std::size_t used = out.size();
  do {
    out.resize(used + room_bytes + z.avail_in / 2);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(out.size() - used);
    ::deflate(&z, is_last ? Z_FINISH : Z_FULL_FLUSH);
    used = out.size() - z.avail_out;
  } while (z.avail_out == 0);
  out.resize(used);
}

}  // namespace voxherd
