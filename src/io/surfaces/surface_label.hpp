#pragma once

#include <cstdint>
#include <string>

namespace voxherd {

struct surface_label {
  std::int32_t key = 0;
  std::string name;
};

}  // namespace voxherd
