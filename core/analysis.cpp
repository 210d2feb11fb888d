#include "core/analysis.hpp"

namespace voxherd {

std::size_t size_of(element_type type) {
  switch (type) {
    case element_type::uint8:
      return 1;
    case element_type::int32:
    case element_type::uint32:
    case element_type::float32:
      return 4;
    case element_type::uint64:
    case element_type::float64:
      return 8;
  }
  return 0;
}

std::string name_of(element_type type) {
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
  std::size_t bytes = size_of(type);
  for (const std::uint64_t extent : shape) bytes *= extent;
  return bytes;
}

}  // namespace voxherd
