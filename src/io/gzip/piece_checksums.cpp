#include "src/io/gzip/piece_checksums.hpp"

#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>

namespace voxherd {

void piece_checksum::add_to_part(const std::uint8_t* bytes, std::size_t count) {
  part& p = parts_.back();
  p.sum = crc32_gzip_refl(p.sum, bytes, count);
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
