#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Rows of `width` values of all ranks, in the order of the items; on rank 0. `items`: the item of each row, rank after
/// rank, all of them. Collective.
template <class T>
std::vector<T> gather_rows(const session& s, const std::vector<std::uint64_t>& items, const std::vector<T>& own,
                           std::size_t width) {
  const std::vector<T> all = s.gather_to_root(own);
  std::vector<T> ordered(all.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    std::copy_n(all.data() + i * width, width, ordered.data() + items[i] * width);
  return ordered;
}

}  // namespace voxherd
