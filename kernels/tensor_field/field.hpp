#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/tensor_field/field_types.hpp"

namespace voxherd::tensor_field {

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

/// Prepares one field of kind tensor after another on the same grid and mask, in memory of one device that it keeps:
/// the replicates of a bootstrap. Used by one thread.
class field_maker {
 public:
  virtual ~field_maker() = default;

  /// (nz, ny, nx, 6) in the device's memory, to be filled with the tensors before make(): as tensor_image::tensor.
  virtual float* tensors() = 0;
  /// The field of tensors(), as make_field() prepares it; overwritten by the next call. Throws device_error.
  virtual const field& make() = 0;
};

/// `grid`: its `tensor` is not read. Call use_device(d) first. Throws as make_field().
std::unique_ptr<field_maker> make_field_maker(const device& d, const tensor_image& grid, const preparation& settings);

// The backends of these three.
std::unique_ptr<field_maker> make_field_maker_cpu(const device& d, const tensor_image& grid,
                                                  const preparation& settings);
std::unique_ptr<field_maker> make_field_maker_cuda(const device& d, const tensor_image& grid,
                                                   const preparation& settings);
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
/// D_eff of one voxel, for kind tensor: the first six of its values.
std::array<float, 6> host_tensor(const field& f, std::size_t voxel);

/// `to` is host memory, `from` GPU memory.
void copy_from_gpu(void* to, const void* from, std::size_t bytes);

}  // namespace voxherd::tensor_field
