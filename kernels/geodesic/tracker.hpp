#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/settings.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

using namespace tensor_field;  // rays run in a field

struct seed {
  double voxel[3];  ///< index coordinates, voxel centres at integers
  float axis[3];    ///< unit vector in the world: the main eigenvector there

  static constexpr auto members() { return std::tuple(&seed::voxel, &seed::axis); }
};

/// What pass one keeps of each fibre. Regions are targets that it joins: of one-way rays the seed's own and the one
/// reached; of two-way rays those reached along -u and +u.
///
/// A ray that ends in a target region ends on the region's face (5e-5 voxel inside). Of the step that is cut there, the
/// three lengths get the part up to the face, in proportion to the length of its straight chord. The step counts as one
/// in `steps` and `mean_FA`; `weakest` and `drift` are evaluated where steps begin.
struct fibre_scores {
  static constexpr output table[] = {
      {"verdict", element_type::uint8, 1, "code", "0 accepted; other codes: reason why the path was rejected",
       output_layout::items},
      {"regions", element_type::int32, 2, "1", "labels of the two regions that the path connects; 0: none",
       output_layout::items},
      {"stops", element_type::uint8, 2, "code", "reason why the ray along +u ended, and the one along -u",
       output_layout::items},
      {"steps", element_type::uint32, 2, "1", "number of steps along +u and along -u", output_layout::items},
      {"measure", element_type::float32, 1, "1", "measure that ranks the path (--measure)", output_layout::items},
      {"length_mm", element_type::float32, 1, "mm", "Euclidean length", output_layout::items},
      {"metric_length", element_type::float32, 1, "metric", "Riemannian length; s^(1/2) for the metric `inverse`",
       output_layout::items},
      {"relative", element_type::float32, 1, "1",
       "length over the largest possible one of the same metric length, 0 to 1", output_layout::items},
      {"weakest", element_type::float32, 1, "1", "smallest relative speed along the path, 0 to 1",
       output_layout::items},
      {"mean_FA", element_type::float32, 1, "1", "mean fractional anisotropy", output_layout::items},
      {"drift", element_type::float32, 1, "1", "largest relative change of the energy, which a geodesic keeps",
       output_layout::items},
  };
};
using score_arrays = output_arrays<fibre_scores>;

/// Points along fibres. For a fibre of S = steps[0] + steps[1] steps and n points, point i is floor(i S / (n - 1))
/// steps from the end of the -u ray; n = 1: the seed.
struct point_view {
  float* position;  ///< 3 per point, world mm
  float* FA;        ///< FA of the voxel; may be null
  float* relative;  ///< relative speed at the point; may be null
};

/// Integrates fibres on one device and owns scratch memory there. Fibre f starts at seed f / directions_per_seed in
/// direction f % directions_per_seed. Use from one thread. Throws device_error; device_out_of_memory where fewer fibres
/// may fit.
class tracker {
 public:
  virtual ~tracker() = default;

  /// Pass one: scores fibres [first, first + count).
  virtual void score(std::uint64_t first, std::size_t count, const score_arrays& out) = 0;

  /// Pass two: the points of chosen fibres. Fibre i has points [offsets[i], offsets[i + 1]) counted from offsets[0].
  /// `steps`: 2 per fibre, from its scores. Stops are not evaluated again.
  virtual void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps,
                     std::span<const std::uint64_t> offsets, const point_view& out) = 0;

  /// Frees the device memory that is kept from one call to the next.
  virtual void release_memory() {}
};

/// `f` must outlive the tracker. Call use_device(f.where) first. Throws std::invalid_argument if the field was prepared
/// for another form.
std::unique_ptr<tracker> make_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings);

/// Device memory per fibre of a batch in score().
std::size_t device_bytes_per_fibre();

/// The kind of field that a form reads.
field_kind field_for(ray_form form);

}  // namespace voxherd::geodesic
