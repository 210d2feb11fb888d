#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd {

/// Philox4x32 with 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011), for systems without
/// the headers of Random123 (VOXHERD_USE_SYSTEM_RANDOM123).
struct philox {
  struct words {
    std::uint32_t v[4];
  };
  struct key {
    std::uint32_t v[2];
  };
  static constexpr std::uint32_t first_factor = 0xd2511f53, second_factor = 0xcd9e8d57;
  static constexpr std::uint32_t first_step = 0x9e3779b9, second_step = 0xbb67ae85;  ///< of the key

  VOXHERD_FUNCTION static words compute(words x, key k) {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{first_factor} * x.v[0], p1 = std::uint64_t{second_factor} * x.v[2];
      x = {{static_cast<std::uint32_t>(p1 >> 32) ^ x.v[1] ^ k.v[0], static_cast<std::uint32_t>(p1),
            static_cast<std::uint32_t>(p0 >> 32) ^ x.v[3] ^ k.v[1], static_cast<std::uint32_t>(p0)}};
      k = {{k.v[0] + first_step, k.v[1] + second_step}};
    }
    return x;
  }
};

}  // namespace voxherd
