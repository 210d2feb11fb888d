#pragma once

#include <cstdint>
#include <vector>

#include "kernels/portable/contract.hpp"

namespace voxherd::track {

/// A set of keys with values, emptied at once by a new stamp. Open addressing. Begins with few entries, which stay in
/// the caches, and moves to many when these are half full. Both arrays have a power of two of entries and are zero at
/// the start. Entry has `stamp` and `key`.
template <class Entry>
class stamped_table {
 public:
  /// `many`: at least twice as many as keys. `stamp`: the last one used with these entries. `full`: set to 1 if there
  /// are more keys, which are then lost; null if there cannot be.
  VOXHERD_FUNCTION stamped_table(Entry* few, std::uint32_t few_entries, Entry* many, std::uint32_t many_entries,
                                 std::uint32_t stamp, std::uint32_t* full = nullptr)
      : few_(few), many_(many), few_mask_(few_entries - 1), many_mask_(many_entries - 1), stamp_(stamp), full_(full) {
    assert((few_entries & few_mask_) == 0 && (many_entries & many_mask_) == 0);
    clear();
  }

  VOXHERD_FUNCTION std::uint32_t stamp() const { return stamp_; }

  VOXHERD_FUNCTION void clear() {
    ++stamp_;
    entries_ = few_;
    mask_ = few_mask_;
    used_ = 0;
  }

  /// The key's entry, added if it is missing; `added` tells.
  VOXHERD_INLINED Entry& find(std::uint32_t key, bool& added) {
    if (used_ > few_mask_ / 2 && entries_ == few_) move();
    std::uint32_t at = place(key) & mask_;
    for (Entry e = entries_[at]; e.stamp == stamp_; e = entries_[at]) {
      added = false;
      if (e.key == key) return entries_[at];
      at = (at + 1) & mask_;
    }
    if (used_ > many_mask_ / 2) return refuse(entries_[at], added);
    added = true;
    ++used_;
    entries_[at].stamp = stamp_;
    entries_[at].key = key;
    return entries_[at];
  }

 private:
  /// A full table has no end to search for.
  VOXHERD_FUNCTION Entry& refuse(Entry& entry, bool& added) {
    assert(full_ != nullptr);
    if (full_ != nullptr) *full_ = 1;
    added = false;
    return entry;
  }

  VOXHERD_FUNCTION static std::uint32_t place(std::uint32_t key) { return key * 2654435761u >> 8; }

  VOXHERD_FUNCTION void move() {
    for (std::uint32_t i = 0; i <= few_mask_; ++i) {
      if (few_[i].stamp != stamp_) continue;
      std::uint32_t at = place(few_[i].key) & many_mask_;
      while (many_[at].stamp == stamp_) at = (at + 1) & many_mask_;
      many_[at] = few_[i];
    }
    entries_ = many_;
    mask_ = many_mask_;
  }

  Entry *few_, *many_, *entries_ = nullptr;
  std::uint32_t few_mask_, many_mask_, mask_ = 0;
  std::uint32_t stamp_;
  std::uint32_t used_ = 0;
  std::uint32_t* full_;
};

struct alignas(8) visit_entry {
  static constexpr std::uint32_t few = 512;
  std::uint32_t stamp, key;
};

struct alignas(16) cell_entry {
  static constexpr std::uint32_t few = 32;
  std::uint32_t stamp, key;
  std::int16_t x, y, z, unused;  ///< direction in which the cell was last entered
};

/// Entries for up to so many keys.
inline std::uint32_t table_entries(std::uint32_t keys) {
  std::uint32_t entries = 64;
  while (entries < 2 * keys) entries *= 2;
  return entries;
}

/// Host memory of one table for up to so many keys.
template <class Entry>
class table_memory {
 public:
  explicit table_memory(std::uint32_t keys) : few_(Entry::few), many_(table_entries(keys)) {}

  /// An empty table; only one at a time.
  stamped_table<Entry> table() {
    few_.assign(few_.size(), {});
    many_.assign(many_.size(), {});
    return {few_.data(), Entry::few, many_.data(), static_cast<std::uint32_t>(many_.size()), 0};
  }

 private:
  std::vector<Entry> few_, many_;
};

}  // namespace voxherd::track
