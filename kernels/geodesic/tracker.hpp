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

/// What pass one keeps of each fibre: arrays of `count`.
struct score_view {
  std::uint8_t* verdict;  ///< geodesic::verdict
  std::uint8_t* stops;    ///< 2 a fibre: stop_reason of the ray along +u, and along -u
  std::int32_t* regions;  ///< 2 a fibre: targets that it joins. One way: the seed's own and the one reached; two
                          ///< ways: those reached along -u and +u. 0: none
  std::uint32_t* steps;   ///< 2 a fibre: steps along +u and along -u
  float* measure;         ///< as chosen by ray_settings::measure
  float* length_mm;       ///< Euclidean
  float* metric_length;   ///< Riemannian, unit of the metric: s^(1/2) for `inverse`
  float* relative;        ///< Euclidean length over the integral of the largest speed, (0, 1]
  float* weakest;         ///< smallest relative speed, (0, 1]
  float* mean_FA;
  float* drift;  ///< largest |E / E0 - 1|
};

/// Points along fibres. A fibre of S = steps[0] + steps[1] steps that has n points has point i at the place after
/// floor(i S / (n - 1)) steps from the end of the -u ray; n = 1: the seed.
struct point_view {
  float* position;  ///< 3 a point, world mm
  float* FA;        ///< of the voxel; may be null
  float* relative;  ///< relative speed there; may be null
};

/// Integrates fibres on one device. Fibre f starts at seed f / directions_per_seed in direction
/// f % directions_per_seed. Owns its scratch memory; used by one thread. Throws device_error.
class tracker {
 public:
  virtual ~tracker() = default;

  /// Pass one: fibres [first, first + count).
  virtual void score(std::uint64_t first, std::size_t count, const score_view& out) = 0;

  /// The points of chosen fibres: fibre i has points [offsets[i], offsets[i + 1]) counted from offsets[0]. `steps` as
  /// scored, 2 a fibre. No stop is looked at again.
  virtual void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps,
                     std::span<const std::uint64_t> offsets, const point_view& out) = 0;
};

/// `f` outlives the tracker. After use_device(f.where). Throws std::invalid_argument for a form that the field is not
/// for.
std::unique_ptr<tracker> make_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings);

/// Device memory that one fibre of a batch takes in score().
std::size_t device_bytes_per_fibre();

/// The field that a form reads.
field_kind field_for(ray_form form);

}  // namespace voxherd::geodesic
