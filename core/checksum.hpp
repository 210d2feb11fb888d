#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace voxherd {

/// XXH64 of bytes given piece by piece.
class checksum {
 public:
  checksum() { XXH64_reset(&state_, 0); }
  void add(std::span<const std::byte> bytes) { XXH64_update(&state_, bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_;
};

}  // namespace voxherd
