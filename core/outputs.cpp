#include "core/outputs.hpp"

namespace voxherd {

std::string type_name(element_type type) {
  switch (type) {
    case element_type::uint8:
      return "uint8";
    case element_type::int32:
      return "int32";
    case element_type::uint32:
      return "uint32";
    case element_type::uint64:
      return "uint64";
    case element_type::float32:
      return "float32";
    case element_type::float64:
      return "float64";
  }
  return "?";
}

std::size_t output_spec::bytes_per_item() const {
  std::size_t bytes = element_bytes(type);
  for (const std::uint64_t extent : shape) bytes *= extent;
  return bytes;
}

output_spec output::spec() const {
  std::vector<std::uint64_t> shape;
  if (width > 1) shape.push_back(width);
  return {name, type, shape, layout, unit, meaning};
}

}  // namespace voxherd
