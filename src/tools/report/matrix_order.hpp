#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace voxherd::report {

/// An order in which close items are next to each other: the leaves of an average-linkage clustering (Sokal & Michener
/// 1958). `distance` is symmetric.
std::vector<std::size_t> cluster_order(std::size_t n, const std::function<double(std::size_t, std::size_t)>& distance);

}  // namespace voxherd::report
