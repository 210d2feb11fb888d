#include "mpi/result/journal.hpp"

#include <fmt/core.h>

namespace voxherd {

std::string describe_damage(const batch& items, std::uint64_t found, std::uint64_t expected) {
  return fmt::format("batch {} (items {} to {}): checksum {:016x}, expected {:016x} as in the journal", items.number,
                     items.first_item, items.first_item + items.item_count - 1, found, expected);
}

}  // namespace voxherd
