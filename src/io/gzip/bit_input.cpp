#include "src/io/gzip/bit_input.hpp"

#include <bit>

namespace voxherd {

// bit_cursor::refill() loads eight bytes as one number.
static_assert(std::endian::native == std::endian::little);

namespace {

/// Zeros after the end of the file: a complete block header may be read from them before the end is detected.
constexpr std::size_t spare_bytes = 2 * bit_input::ahead_bytes;
constexpr std::size_t past_end_bytes = 64;

}  // namespace

bit_input::bit_input(const input_file& file, std::uint64_t bit, std::size_t bytes_at_once)
    : file_(&file), buffer_(2 * ahead_bytes + bytes_at_once + spare_bytes), base_(bit / 8) {
  next = data_end_ = buffer_.data();
  safe_end_ = nullptr;
  fetch();
  refill();
  drop(static_cast<unsigned>(bit % 8));
}

bool bit_input::fetch() {
  unread();
  if (safe_end_ != nullptr && next <= safe_end_) return true;
  if (at_end_) return false;
  const std::size_t left = static_cast<std::size_t>(data_end_ - next);
  base_ += static_cast<std::uint64_t>(next - buffer_.data());
  std::memmove(buffer_.data(), next, left);
  const std::size_t room = buffer_.size() - spare_bytes - left;
  const std::size_t got = file_->read_some(base_ + left, buffer_.data() + left, room);
  next = buffer_.data();
  data_end_ = next + left + got;
  at_end_ = got < room;
  std::memset(buffer_.data() + left + got, 0, spare_bytes);
  safe_end_ = at_end_ ? data_end_ + past_end_bytes : data_end_ - ahead_bytes;
  return true;
}

}  // namespace voxherd
