#pragma once

#include <array>
#include <string>

namespace voxherd {

/// What the values are: a code of the standard or of a program, and what it needs.
struct nifti_intent {
  int code = 0;
  std::array<double, 3> parameters{};
  std::string name;
};

}  // namespace voxherd
