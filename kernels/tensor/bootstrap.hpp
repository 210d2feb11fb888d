#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/device.hpp"
#include "kernels/tensor/tensor.hpp"

namespace voxherd {

/// Wild bootstrap of a tensor fit (Liu, Ann Stat 16:1696, 1988; for diffusion tensors Whitcher et al., Hum Brain Mapp
/// 29:346, 2008): the fitted logarithms plus their residuals, each over sqrt(1 - leverage) (HC2: MacKinnon & White,
/// J Econometrics 29:305, 1985) and with a random sign, are fitted again in the same way.
///
/// HC2 rather than HC3, which divides by 1 - leverage: its residuals have the noise's variance where the weights are
/// right, and as many signs as measurements leave few degrees of freedom for a fit of seven numbers.
/// Iterated fits begin with the weights of the data's last fit instead of the replicate's own samples: the
/// negated residual of a sample lost in noise makes a signal larger than all others.
struct bootstrap_settings {
  tensor_settings tensor;
  std::uint64_t seed = 0;
};

/// The image that replicates are placed in.
struct bootstrap_image {
  std::span<const float> data;           ///< (voxels of the image, 6): the data's tensors along world axes, mm2/s
  std::span<const std::uint32_t> place;  ///< index of each of the bootstrap's voxels in it
  std::array<double, 9> frame;           ///< row-major: F of the tensors along world axes, F D F^T
};

/// Holds a series' voxels on one device. Owns its memory there; used by one thread.
class tensor_bootstrap {
 public:
  virtual ~tensor_bootstrap() = default;

  virtual std::size_t voxels() const = 0;

  /// The fits of all voxels: 6 numbers as tensor_outputs::tensor, and voxel_status; tensors are zero if it is not
  /// `fitted`. Replicate 0: the data's own, as tensor_solver fits them. A voxel's result depends only on the seed, its
  /// linear index, the replicate and its signals. A replicate whose fit predicts a signal of ten times the voxel's
  /// largest has `diverged`. Throws device_error.
  virtual void fit(std::uint64_t replicate, float* tensor, std::uint8_t* status) = 0;

  /// Copies what fit_image() needs. Throws device_error, and std::invalid_argument for places that do not match.
  virtual void set_image(const bootstrap_image& image) = 0;
  /// The image with the fits of fit(). A voxel that is not fitted, or whose trace is not positive, keeps the tensor of
  /// the data; returns how many do. `tensors`: as bootstrap_image::data, in the device's memory. After set_image().
  virtual std::uint64_t fit_image(std::uint64_t replicate, float* tensors) = 0;
};

/// `voxels`: linear indices in the image; `rows`: as many rows as tensor_solver::fit takes. Both are read only here.
/// Replicates are numbered up to 2^32 - 1. After use_device(d). Throws device_error, and std::invalid_argument for rows
/// of another size.
std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap(const device& d, const gradient_table& gradients,
                                                        const bootstrap_settings& settings,
                                                        std::span<const std::uint64_t> voxels,
                                                        std::span<const float> rows);

/// Throws std::invalid_argument if the places are not those of `voxels` voxels in the image.
void check_image(const bootstrap_image& image, std::size_t voxels);

// Its backends; arguments have been checked.
std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cpu(const device& d, const gradient_table& gradients,
                                                            const bootstrap_settings& settings,
                                                            std::span<const std::uint64_t> voxels,
                                                            std::span<const float> rows);
std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cuda(const gradient_table& gradients,
                                                             const bootstrap_settings& settings,
                                                             std::span<const std::uint64_t> voxels,
                                                             std::span<const float> rows);

/// Device memory that one voxel takes, without the image of set_image().
std::size_t bootstrap_device_bytes_per_voxel(std::size_t measurements, bool gradient_deviation);

}  // namespace voxherd
