#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/settings.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

struct seed {
  double voxel[3];  ///< index coordinates, voxel centres at integers
  float axis[3];    ///< unit vector in the world: the main eigenvector there
};

/// Scores of each fibre in pass one: arrays of `count` rows.
struct score_view {
  std::uint8_t* verdict;  ///< geodesic::verdict
  std::uint8_t* stops;    ///< 2 per fibre: stop_reason of the ray along +u and of that along -u
  std::int32_t* regions;  ///< 2 per fibre: the targets it connects. One-way: the seed's and the one reached;
                          ///< two-way: those reached along -u and +u. 0: none
  std::uint32_t* steps;   ///< 2 per fibre: steps along +u and along -u
  float* measure;         ///< ray_settings::measure
  float* length_mm;       ///< Euclidean
  float* metric_length;   ///< Riemannian, in the unit of the metric: s^(1/2) for `inverse`
  float* relative;        ///< Euclidean length divided by the integral of the largest speed, (0, 1]
  float* weakest;         ///< smallest relative speed, (0, 1]
  float* mean_FA;
  float* drift;  ///< maximum |E / E0 - 1|
};

/// Points along fibres. For a fibre of S = steps[0] + steps[1] steps and n points, point i is floor(i S / (n - 1))
/// steps from the end of the -u ray; n = 1: the seed.
struct point_view {
  float* position;  ///< 3 per point, world mm
  float* FA;        ///< of the voxel; may be null
  float* relative;  ///< relative speed at the point; may be null
};

/// Integrates fibres on one device and owns scratch memory there. Fibre f starts at seed f / directions_per_seed in
/// direction f % directions_per_seed. Use from one thread. Throws device_error.
class tracker {
 public:
  virtual ~tracker() = default;

  /// Pass one: scores fibres [first, first + count).
  virtual void score(std::uint64_t first, std::size_t count, const score_view& out) = 0;

  /// Pass two: the points of chosen fibres. Fibre i has points [offsets[i], offsets[i + 1]) counted from offsets[0].
  /// `steps`: 2 per fibre, from its scores. Stops are not evaluated again.
  virtual void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps,
                     std::span<const std::uint64_t> offsets, const point_view& out) = 0;
};

/// `f` must outlive the tracker. Call use_device(f.where) first. Throws std::invalid_argument if the field was prepared
/// for another form.
std::unique_ptr<tracker> make_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings);

/// Device memory per fibre of a batch in score().
std::size_t device_bytes_per_fibre();

/// The kind of field that a form reads.
field_kind field_for(ray_form form);

}  // namespace voxherd::geodesic
