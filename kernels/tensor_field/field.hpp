#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/settings.hpp"

namespace voxherd::geodesic {

/// What turns diffusion into a metric G; D_eff is the inverse of G. lambda_i are the eigenvalues of D.
enum class metric_kind {
  inverse,   ///< G = D^-1
  adjugate,  ///< G = det(D) D^-1 (Fuster 2016)
  power,     ///< G = D^-alpha
  jeong,     ///< G = det^(-1/3) (D / det^(1/3))^-alpha (Jeong 2007); alpha 1 is `inverse`
};

/// Diffusion tensors on an image grid, as they were measured.
struct tensor_image {
  std::array<std::uint64_t, 3> size{};
  std::array<double, 9> axes_mm{};  ///< row-major 3x3: world vector (mm) of one voxel along each image axis in columns
  std::array<double, 3> origin_mm{};  ///< world place of voxel (0, 0, 0)'s centre
  std::vector<float> tensor;          ///< (nz, ny, nx, 6): xx, xy, xz, yy, yz, zz along world axes, mm2/s
  std::vector<std::uint8_t> inside;   ///< (nz, ny, nx): 1 where there is a tensor to be trusted
};

struct preparation {
  metric_kind metric = metric_kind::inverse;
  double alpha = 1;
  double smoothing_voxels = 0;     ///< Gaussian deviation of log-Euclidean smoothing; 0: none
  double least_eigenvalue = 0.01;  ///< eigenvalues below this part of the largest one are raised to it
};

/// A voxel's bits: what a ray must know on entering it.
namespace region {
inline constexpr std::uint32_t inside = 1u, exclude = 2u, first_include = 4u;
inline constexpr int most_includes = 14, target_shift = 16, most_targets = 65535;
}  // namespace region

/// Read on entering a voxel; 16 bytes.
struct alignas(16) voxel_facts {
  float FA;               ///< of the measured (smoothed) tensor
  float speed;            ///< sqrt of D_eff's largest eigenvalue, scaled as the field is: mm per unit of length
  std::uint32_t regions;  ///< bits above; the number of the target region from bit 16 on, 0 for none
  std::uint32_t unused;
};

/// What the numbers of a field are.
enum class field_kind {
  tensor,       ///< 8 a voxel: D_eff in index space xx, xy, xz, yy, yz, zz, 0, 0
  world,        ///< 8 a voxel: D along world axes, the same order; for streamlines
  christoffel,  ///< 24 a voxel: D_eff in index space, then the derivatives of its inverse by x, y, z (six each)
  quartic,      ///< 16 a voxel: a fourth-order tensor in index space, see finsler4.hpp
};
constexpr int floats_of(field_kind k) { return k == field_kind::christoffel ? 24 : k == field_kind::quartic ? 16 : 8; }

/// A prepared field as kernels read it. Pointers are the device's. Index space: D_idx = A^-1 D A^-T with A = axes, so
/// that voxels are cubes of side 1 and curves, lengths and energies are unchanged.
struct field_view {
  int size[3];
  const float* values;  ///< (nz, ny, nx, floats_of(kind)), 32-byte aligned; B-spline coefficients where so prepared
  const voxel_facts* facts;  ///< (nz, ny, nx)
  float axes[9];             ///< index to world mm, row-major
  float inverse_axes[9];     ///< world mm to index
  float origin_mm[3];
};

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
  std::uint64_t repaired = 0;  ///< voxels inside whose tensor was not positive definite or not finite
  double seconds = 0;          ///< preparation on the device, without the copy there
};

/// Cleans, smooths, applies the metric, goes to index space, differentiates or prefilters. After use_device(d).
///
/// `regions`: (nz, ny, nx) words of region bits, or empty for `inside` alone; the bit `inside` is taken from them where
/// the image's `inside` is not 0, and is 0 elsewhere. Kinds: tensor, world, christoffel.
/// Values are finite everywhere and may be read anywhere: outside, three rounds of dilation, then isotropic. Smoothing
/// is over voxels with a tensor alone. Eigenvalues of D_eff below 1e-6 of the voxel's largest are raised to that.
/// B-spline coefficients go on beyond the image as in a mirror on the last sample (c[-1] = c[1], c[n] = c[n - 2]; c[0]
/// where n is 1).
/// Throws device_error, and std::invalid_argument for arrays of other sizes than `image.size` says, more than 2^28
/// voxels, axes in one plane, alpha not in 0 to 16, smoothing_voxels not in 0 to 10, least_eigenvalue not in 0 to 1.
std::unique_ptr<field> make_field(const device& d, const tensor_image& image, std::span<const std::uint32_t> regions,
                                  const preparation& how, field_kind kind, bool spline);

/// Copies in host memory, as field_view has them. After use_device(f.where). Throws device_error.
std::vector<float> host_values(const field& f);
std::vector<voxel_facts> host_facts(const field& f);

}  // namespace voxherd::geodesic
