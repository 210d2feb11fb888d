#include <fmt/core.h>
#include <isa-l/igzip_lib.h>

#include "core/failure.hpp"
#include "src/io/gzip/piece_deflater.hpp"

namespace voxherd {

namespace {

/// Levels 1 and 2 of ISA-L 2.30 hash the address of their stream instead of the third byte, so that one address in 8192
/// gives other bytes.
constexpr std::uint32_t level = 3;
constexpr std::size_t header_room = 1024, stored_block_bytes = 65535, bytes_per_stored_block = 5;

/// Data that do not become smaller are stored.
std::size_t max_deflated_bytes(std::size_t bytes) {
  return bytes + (bytes / stored_block_bytes + 1) * bytes_per_stored_block + header_room;
}

}  // namespace

struct piece_deflater::state {
  isal_zstream z{};
  std::vector<std::uint8_t> tables = std::vector<std::uint8_t>(ISAL_DEF_LVL3_DEFAULT);
};

piece_deflater::piece_deflater() : state_(std::make_unique<state>()) {}
piece_deflater::~piece_deflater() = default;

void piece_deflater::deflate(std::span<const std::byte> piece, bool is_last, std::vector<std::byte>& out) {
  isal_zstream& z = state_->z;
  isal_deflate_stateless_init(&z);
  z.level = level;
  z.level_buf = state_->tables.data();
  z.level_buf_size = static_cast<std::uint32_t>(state_->tables.size());
  z.gzip_flag = IGZIP_DEFLATE;
  z.flush = FULL_FLUSH;
  z.end_of_stream = is_last ? 1 : 0;
  // ISA-L reads only, but its field is not const.
  z.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(piece.data()));
  z.avail_in = static_cast<std::uint32_t>(piece.size());
  const std::size_t before = out.size();
  out.resize(before + max_deflated_bytes(piece.size()));
  z.next_out = reinterpret_cast<std::uint8_t*>(out.data() + before);
  z.avail_out = static_cast<std::uint32_t>(out.size() - before);
  if (const int code = isal_deflate_stateless(&z); code != COMP_OK || z.avail_in != 0)
    throw failure(exit_status::internal_error, fmt::format("ISA-L: isal_deflate_stateless failed with {}", code));
  out.resize(out.size() - z.avail_out);
}

}  // namespace voxherd
