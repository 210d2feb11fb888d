#pragma once

#include <cstdint>
#include <string>

#include "core/analysis.hpp"

namespace voxherd {

/// One entry of the journal, written when a batch is finished.
struct journal_entry {
  std::uint64_t done = 0;      ///< 1 if the batch's data are in the file
  std::uint64_t checksum = 0;  ///< XXH64 of the batch's bytes, output after output
  std::uint64_t rank = 0;
  std::uint64_t microseconds = 0;  ///< device time
};

/// "batch 3 (items 60 to 79): checksum ..., expected ... as in the journal"
std::string describe_damage(const batch& items, std::uint64_t found, std::uint64_t expected);

}  // namespace voxherd
