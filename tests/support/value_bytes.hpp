#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace voxherd::testing {

/// The values as a known_file takes them.
template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace voxherd::testing
