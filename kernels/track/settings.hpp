#pragma once

#include <cstdint>
#include <tuple>

#include "kernels/portable/function.hpp"

namespace voxherd::track {

/// Which fibre of a sample the first step of a half follows, among those above the fibre threshold unless it says
/// otherwise. None above: fibre 1.
enum class first_fibre : std::uint8_t {
  strongest,  ///< fibre 1, whatever its fraction
  equal,      ///< each with the same probability
  weighted,   ///< with a probability in proportion to its fraction
  any,        ///< each of all fibres, also below the threshold, with the same probability
};

/// Whether the direction of a step is the mean of a sample's at its start and another's one step ahead.
enum class step_mean : std::uint8_t {
  none,
  with_sample,  ///< the direction at the start alone if there is no sample ahead
  with_axis,    ///< the mean with the third axis of the image if there is none, as in FSL
};

enum class include_rule : std::uint8_t {
  all,  ///< every mask to include must be passed
  one,  ///< one of them is enough
};

constexpr std::int32_t direction_unit = 32767;  ///< length of a unit direction in its integers
constexpr std::uint32_t fraction_unit = 65535;  ///< a volume fraction of 1
constexpr int max_includes = 13;
constexpr int max_exit_masks = 32;

/// How streamlines are drawn and accepted. Lengths are in whole steps, directions and fractions in integers, so that a
/// decision never depends on rounding.
struct walk_settings {
  std::int32_t samples = 1, fibres = 1;
  float step_voxels[3] = {};    ///< along each image axis, of a step in direction 1 / direction_unit
  float radius_voxels[3] = {};  ///< radius of the ball around the seed's centre in which streamlines start
  bool random_start = false;
  std::int32_t min_dot = 0;        ///< the product of two directions in turn must be larger, whatever its sign
  std::uint32_t min_fraction = 0;  ///< fibres must be above it to be chosen
  std::int32_t max_points = 1000;  ///< largest number of points of a half, with the start
  std::int32_t min_steps = 0;      ///< a half with fewer is rejected
  std::int32_t min_total = 0;      ///< a streamline with fewer in its halves that count is left out
  bool loop_check = false;         ///< end a half that enters a cell of 5^3 voxels against its last direction there
  bool stop_by_fraction = false;   ///< go on with a probability of the fibre's fraction
  bool half_weight_ends = false;   ///< draw the first and the last sample half as often as the others, as FSL does
  first_fibre first = first_fibre::strongest;
  std::int32_t start_fibre = 0;  ///< number of the first step's fibre, from 1; 0: as `first` says
  step_mean averaging = step_mean::none;
  /// Masks to exclude do not count at the start, masks to stop in not at the next point.
  bool ignore_first_step = false;
  std::uint64_t random_seed = 0;
  bool exclude = false;        ///< there are masks to exclude
  std::uint32_t includes = 0;  ///< number of masks to include
  include_rule rule = include_rule::all;
  bool ordered = false;     ///< masks to include must be passed in their order
  bool each_half = false;   ///< require the --include rule of each half separately
  bool connectome = false;  ///< a half must reach another region than its seed's

  static constexpr auto members() {
    using T = walk_settings;
    return std::tuple(&T::samples, &T::fibres, &T::step_voxels, &T::radius_voxels, &T::random_start, &T::min_dot,
                      &T::min_fraction, &T::max_points, &T::min_steps, &T::min_total, &T::loop_check,
                      &T::stop_by_fraction, &T::half_weight_ends, &T::first, &T::start_fibre, &T::averaging,
                      &T::ignore_first_step, &T::random_seed, &T::exclude, &T::includes, &T::rule, &T::ordered,
                      &T::each_half, &T::connectome);
  }

  /// Whether a streamline may be rejected, so that it is known only at its end whether it counts.
  VOXHERD_FUNCTION bool has_conditions() const {
    return exclude || includes > 0 || connectome || min_steps > 0 || min_total > 0;
  }
};

}  // namespace voxherd::track
