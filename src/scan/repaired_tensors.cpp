#include "src/scan/repaired_tensors.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace voxherd {

void warn_repaired(std::uint64_t repaired, const tensor_field::tensor_image& image, double min_eigenvalue,
                   const char* option) {
  if (repaired == 0) return;
  const auto inside =
      image.inside.size() - static_cast<std::size_t>(std::count(image.inside.begin(), image.inside.end(), 0));
  spdlog::warn(
      "{} of {} voxels have a tensor with an eigenvalue of 0 or less; eigenvalues below {:.3g} of the largest one are "
      "raised to that ({}), and a tensor without any above 0 is replaced by its neighbours' mean",
      repaired, inside, min_eigenvalue, option);
}

}  // namespace voxherd
