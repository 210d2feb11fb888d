#pragma once

#include <cstdint>

namespace voxherd {

/// How the values of a batch's items are stored, `K` floats of each of `n` items.
enum class input_layout : std::uint8_t {
  rows,     ///< item by item: value k of item i is number i * K + k
  columns,  ///< value by value: value k of item i is number k * n + i
};

}  // namespace voxherd
