#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::track {

/// A set of keys with values, emptied at once by a new stamp. Open addressing in memory of `mask + 1` entries, a power
/// of two and at least twice the number of keys, zero at the start. Entry has `stamp` and `key`.
template <class Entry>
struct stamped_table {
  Entry* entries = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t stamp = 0;

  VOXHERD_FUNCTION void clear() { ++stamp; }

  /// The key's entry, added if it is missing; `added` tells.
  VOXHERD_FUNCTION Entry& find(std::uint32_t key, bool& added) const {
    std::uint32_t at = (key * 2654435761u >> 8) & mask;
    while (entries[at].stamp == stamp && entries[at].key != key) at = (at + 1) & mask;
    added = entries[at].stamp != stamp;
    entries[at].stamp = stamp;
    entries[at].key = key;
    return entries[at];
  }
};

struct visit_entry {
  std::uint32_t stamp, key;
};

struct cell_entry {
  std::uint32_t stamp, key;
  std::int16_t x, y, z, unused;  ///< direction in which the cell was last entered
};

/// Entries for up to so many keys.
inline std::uint32_t table_entries(std::uint32_t keys) {
  std::uint32_t entries = 64;
  while (entries < 2 * keys) entries *= 2;
  return entries;
}

}  // namespace voxherd::track
