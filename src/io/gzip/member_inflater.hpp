#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace voxherd {

/// Inflates the members of a gzip file one after another: with ISA-L (isal_inflater.cpp) or, in a build without it,
/// with zlib (zlib_inflater.cpp).
class member_inflater {
 public:
  /// Expects the header of a member, as after begin().
  member_inflater();
  ~member_inflater();

  /// Starts a member with what is left of the input.
  void begin();
  /// Sets the next compressed bytes, fewer than 2^32.
  void set_input(const unsigned char* bytes, std::size_t count);
  /// Bytes of the input that were not used yet.
  std::size_t unused_input() const;
  /// Inflates until `count` bytes, at most 2^30, are written, the input is used up, the member is complete, or damage
  /// is found. Returns the number of bytes written.
  std::size_t inflate(unsigned char* out, std::size_t count);
  /// Whether all of the member was inflated, and its checksum and length are right.
  bool is_complete() const;
  /// What is wrong with the stream; null if nothing is.
  const char* damage() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// CRC-32 of gzip, continued from that of preceding bytes; 0 for none.
std::uint32_t gzip_checksum(std::uint32_t before, const std::uint8_t* bytes, std::size_t count);

}  // namespace voxherd
