#pragma once

#include <array>
#include <cstdint>
#include <vector>

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

}  // namespace voxherd::tensor_field
