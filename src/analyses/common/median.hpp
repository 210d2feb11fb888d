#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace voxherd {

/// The middle of at least one value in ascending order; of an even number, the upper of the two (a report shows the
/// lower one, src/show/distribution.hpp). Reorders the values.
template <class T>
T upper_median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace voxherd
