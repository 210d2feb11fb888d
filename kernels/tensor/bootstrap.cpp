#include "kernels/tensor/bootstrap.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/tensor/bootstrap.hpp"

namespace voxherd {

std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap(const device& d, const gradient_table& gradients,
                                                        const bootstrap_settings& settings,
                                                        std::span<const std::uint64_t> voxels,
                                                        std::span<const float> rows) {
  const std::size_t row = gradients.size() + (settings.tensor.gradient_deviation ? 9 : 0);
  if (rows.size() != voxels.size() * row)
    throw std::invalid_argument("rows of the bootstrap do not belong to its voxels and gradients");
  if (voxels.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("more than 2^32 voxels to bootstrap");
  return d.kind == backend::cuda ? make_tensor_bootstrap_cuda(gradients, settings, voxels, rows)
                                 : make_tensor_bootstrap_cpu(d, gradients, settings, voxels, rows);
}

void check_image(const bootstrap_image& image, std::size_t voxels) {
  const std::size_t all = image.data.size() / 6;
  if (image.data.size() % 6 != 0 || image.place.size() != voxels ||
      std::any_of(image.place.begin(), image.place.end(), [&](std::uint32_t p) { return p >= all; }))
    throw std::invalid_argument("the bootstrap's voxels are not in its image");
}

std::size_t bootstrap_device_bytes_per_voxel(std::size_t measurements, bool gradient_deviation) {
  const std::size_t row = measurements + (gradient_deviation ? 9 : 0);
  // Residuals, parameters, the data's tensor, the replicate's, two statuses, the index, the place.
  return row * sizeof(float) + 7 * sizeof(double) + 12 * sizeof(float) + 2 + sizeof(std::uint64_t) +
         sizeof(std::uint32_t);
}

}  // namespace voxherd
