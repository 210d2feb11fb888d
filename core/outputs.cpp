#include "core/outputs.hpp"

namespace voxherd {

std::size_t output_spec::bytes_per_item() const {
  std::size_t bytes = size_of(type);
  for (const std::uint64_t extent : shape) bytes *= extent;
  return bytes;
}

output_spec output::spec() const {
  std::vector<std::uint64_t> shape;
  if (width > 1) shape.push_back(width);
  return {name, type, shape, layout, unit, meaning};
}

}  // namespace voxherd
