#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.hpp"

namespace voxherd::tensor_field {

/// The metric G derived from the diffusion tensor D; D_eff is the inverse of G. lambda_i are the eigenvalues of D.
enum class metric_kind {
  inverse,   ///< G = D^-1
  adjugate,  ///< G = det(D) D^-1 (Fuster 2016)
  power,     ///< G = D^-alpha
  jeong,     ///< G = det^(-1/3) (D / det^(1/3))^-alpha (Jeong 2007); alpha 1 is `inverse`
};

/// Measured diffusion tensors on an image grid.
struct tensor_image {
  std::array<std::uint64_t, 3> size{};
  std::array<double, 9> axes_mm{};    ///< row-major 3x3, columns: world vector (mm) of one voxel along each image axis
  std::array<double, 3> origin_mm{};  ///< world position of the centre of voxel (0, 0, 0)
  std::vector<float> tensor;          ///< (nz, ny, nx, 6): xx, xy, xz, yy, yz, zz along world axes, mm2/s
  std::vector<std::uint8_t> inside;   ///< (nz, ny, nx): 1 where the tensor is valid
};

struct preparation {
  metric_kind metric = metric_kind::inverse;
  double alpha = 1;
  double smoothing_voxels = 0;   ///< standard deviation of log-Euclidean Gaussian smoothing; 0: none
  double min_eigenvalue = 0.01;  ///< eigenvalues below this fraction of the largest one are raised to it
};

/// Whether alpha counts.
constexpr bool has_exponent(metric_kind metric) { return metric == metric_kind::power || metric == metric_kind::jeong; }

/// `min_eigenvalue` that limits the ratio of the squared speeds, which are powers of the eigenvalues with alpha.
double min_eigenvalue(metric_kind metric, double alpha, double max_ratio);

/// Flags of a voxel, read when a ray enters it.
namespace region {
inline constexpr std::uint32_t inside = 1u, exclude = 2u, first_include = 4u;
inline constexpr int max_includes = 14, target_shift = 16, max_targets = 65535;
}  // namespace region

/// Data read when a ray enters a voxel; 16 bytes.
struct alignas(16) voxel_facts {
  float FA;               ///< FA of the measured (smoothed) tensor
  float speed;            ///< sqrt of the largest eigenvalue of D_eff, scaled as the field: mm per unit of length
  std::uint32_t regions;  ///< flags above; from bit 16 on the number of the target region, 0 for none
  std::uint32_t unused;
};

/// Contents of a field.
enum class field_kind {
  tensor,       ///< 8 per voxel: D_eff in index space xx, xy, xz, yy, yz, zz, 0, 0
  world,        ///< 8 per voxel: D along world axes, same order; for streamlines
  christoffel,  ///< 24 per voxel: D_eff in index space, then the derivatives of its inverse by x, y, z (six each)
  quartic,      ///< 16 per voxel: a fourth-order tensor in index space, see finsler4.hpp
};
constexpr int field_floats(field_kind k) {
  return k == field_kind::christoffel ? 24 : k == field_kind::quartic ? 16 : 8;
}

/// A prepared field as kernels read it. Pointers refer to device memory. Index space: D_idx = A^-1 D A^-T with A =
/// axes, so that voxels are cubes of side 1 and curves, lengths and energies are unchanged.
struct field_view {
  int size[3];
  const float* values;  ///< (nz, ny, nx, field_floats(kind)), 32-byte aligned; B-spline coefficients if so prepared
  const voxel_facts* facts;  ///< (nz, ny, nx)
  float axes[9];             ///< index to world mm, row-major
  float inverse_axes[9];     ///< world mm to index
  float origin_mm[3];
};

namespace prepare {
struct recipe;  // prepare_recipe.hpp
}

/// A field in the memory of one device.
class field {
 public:
  virtual ~field() = default;
  virtual field_view view() const = 0;

  device where;
  field_kind kind = field_kind::tensor;
  bool spline = false;  ///< values are B-spline coefficients
  double scale = 1;     ///< the stored D_eff is the true one times this, a power of two: lengths L in units of the
                        ///< metric are the stored ones times sqrt(scale)
  std::uint64_t repaired = 0;  ///< voxels inside with a tensor that was not positive definite or not finite
  double seconds = 0;          ///< time of the preparation on the device, without copies
};

/// Cleans and smooths the tensors, applies the metric, transforms to index space, and differentiates or prefilters.
/// Call use_device(d) first.
///
/// `regions`: (nz, ny, nx) words of region flags, or empty for only `inside`; their flag `inside` is cleared where the
/// image's `inside` is 0. Kinds: tensor, world, christoffel. Values are finite everywhere and may be read anywhere:
/// outside there are three rounds of dilation, then isotropic tensors. Smoothing only uses voxels with a tensor.
/// Eigenvalues of D_eff below 1e-6 of the voxel's largest are raised to that. B-spline coefficients continue beyond the
/// image as mirrored at the last sample (c[-1] = c[1], c[n] = c[n - 2]; c[0] if n is 1). Throws device_error, and
/// std::invalid_argument for array sizes that differ from `image.size`, more than 2^28 voxels, linearly dependent axes,
/// alpha not in 0 to 16, smoothing_voxels not in 0 to 10, min_eigenvalue not in 0 to 1.
std::unique_ptr<field> make_field(const device& d, const tensor_image& image, std::span<const std::uint32_t> regions,
                                  const preparation& settings, field_kind kind, bool spline);

/// The field for `--form finsler4`, kind quartic: T in index space and stored units, with F_true^2 = field::scale
/// F_stored^2. `quartics`: (nz, ny, nx, 15) along world axes, (s/mm2)^2. Voxels inside whose T is not finite or not
/// positive along the axes get the quartic of their tensor. Filled outside as in make_field. Facts: FA of the tensor;
/// speed: 1 / F in the direction of minimum F. `field::repaired` counts voxels inside without a valid tensor or T.
/// Throws as make_field, and std::invalid_argument for smoothing and for a metric other than inverse and adjugate,
/// because T has no logarithm or power.
std::unique_ptr<field> make_quartic_field(const device& d, const tensor_image& image, std::span<const float> quartics,
                                          std::span<const std::uint32_t> regions, const preparation& settings,
                                          bool spline);

// The backends of these two.
std::unique_ptr<field> make_field_cpu(const device& d, const tensor_image& image,
                                      std::span<const std::uint32_t> regions, const prepare::recipe& r);
std::unique_ptr<field> make_field_cuda(const tensor_image& image, std::span<const std::uint32_t> regions,
                                       const prepare::recipe& r);

std::unique_ptr<field> make_quartic_field_cpu(const device& d, const tensor_image& image,
                                              std::span<const float> quartics, std::span<const std::uint32_t> regions,
                                              const prepare::recipe& r);
std::unique_ptr<field> make_quartic_field_cuda(const tensor_image& image, std::span<const float> quartics,
                                               std::span<const std::uint32_t> regions, const prepare::recipe& r);

/// Copies to host memory, in the layout of field_view. Call use_device(f.where) first. Throws device_error.
std::vector<float> host_values(const field& f);
std::vector<voxel_facts> host_facts(const field& f);

/// `to` is host memory, `from` GPU memory.
void copy_from_gpu(void* to, const void* from, std::size_t bytes);

}  // namespace voxherd::tensor_field
