#include "kernels/track/matrix.hpp"

#include <algorithm>

namespace voxherd::track {

void reduce_pairs(std::vector<pair_entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const pair_entry& a, const pair_entry& b) { return a.key < b.key; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept > 0 && entries[kept - 1].key == entries[i].key) {
      entries[kept - 1].count += entries[i].count;
      entries[kept - 1].steps += entries[i].steps;
    } else {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
}

}  // namespace voxherd::track
