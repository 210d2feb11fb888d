#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/candidates.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::geodesic {

inline constexpr std::size_t sketch_floats = 3 * sketch_points;

/// A fibre resampled to `sketch_points` points, world mm, and their mean.
struct sketch {
  float point[sketch_points][3];
  float mean[3];
};

VOXHERD_FUNCTION inline float squared_distance(const float* a, const float* b) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return lane::fma(z, z, lane::fma(y, y, x * x));
}

VOXHERD_FUNCTION inline void mean_point(const float* points, float (&mean)[3]) {
  mean[0] = mean[1] = mean[2] = 0;
  VOXHERD_UNROLL
  for (std::size_t i = 0; i < sketch_floats; ++i) mean[i % 3] += points[i];
  for (float& x : mean) x *= 1.0f / static_cast<float>(sketch_points);
}

/// Whether two fibres are nearer than a distance: minimum average direct-flip distance (MDF: Garyfallidis et al., Front
/// Neurosci 6:175, 2012), the smaller of the mean distances of points in order and in reverse order. Every product is
/// an explicit fma and square roots round correctly, so that CPU and GPU decide alike. Positions that are not numbers
/// are near to nothing.
class fibre_nearness {
 public:
  explicit fibre_nearness(double distance_mm)
      : largest_sum_(static_cast<float>(static_cast<double>(sketch_points) * distance_mm)) {
    // The mean distance of points is at least the distance of their means, in either order. The margin is far above
    // rounding errors: 1e-4 mm for positions of some hundreds of mm.
    const double apart = 1.001 * distance_mm + 0.01;
    largest_squared_ = static_cast<float>(apart * apart);
  }

  VOXHERD_FUNCTION bool operator()(const sketch& a, const float* b, const float* mean_of_b) const {
    if (squared_distance(a.mean, mean_of_b) > largest_squared_) return false;
    return nearer(a, b, false) || nearer(a, b, true);
  }

 private:
  VOXHERD_FUNCTION bool nearer(const sketch& a, const float* b, bool reversed) const {
    constexpr std::size_t n = sketch_points;
    float sum = 0;
    VOXHERD_UNROLL
    for (std::size_t i = 0; i < n; ++i) {
      sum += std::sqrt(squared_distance(a.point[i], b + 3 * (reversed ? n - 1 - i : i)));
      if (sum >= largest_sum_) return false;  // the sum only grows
    }
    return sum < largest_sum_;
  }

  float largest_sum_, largest_squared_;
};

/// A number that decreases with the measure; -0 and +0 are equal; NaN gives the largest number.
VOXHERD_FUNCTION inline std::uint32_t falling_bits(float measure) {
  if (measure != measure) return 0xffffffffu;
  const float without_minus_zero = measure + 0.0f;
  const auto bits = __builtin_bit_cast(std::uint32_t, without_minus_zero);
  // The bits of positive floats increase with the float, those of negative ones decrease: setting the sign bit of the
  // former and inverting all bits of the latter gives increasing numbers.
  const std::uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return ~rising;
}

/// Sorts candidates by pair, then by decreasing measure, NaN last.
VOXHERD_FUNCTION inline std::uint64_t rank_key(std::uint32_t pair, float measure) {
  return static_cast<std::uint64_t>(pair) << 32 | falling_bits(measure);
}

/// The candidates of one region pair: positions [first, last) in rank order.
struct pair_range {
  std::uint32_t pair;
  std::uint32_t first, last;
};

/// Selects, from one pair's sketches in rank order, those that are not near to any previously selected one. A team
/// loads as many candidates as it has lanes: each lane compares its own with all selected so far; then the first
/// remaining one is selected and the others are compared with it, until none remains. The selection does not depend on
/// the number of lanes.
class distinct_picker {
 public:
  /// sketches: (order.size(), sketch_points, 3); means: (order.size(), 3); `top` 0: no limit.
  VOXHERD_FUNCTION distinct_picker(fibre_nearness near, const float* sketches, const float* means, std::uint32_t top)
      : near_(near), sketches_(sketches), means_(means), top_(top) {}

  /// Writes the selected positions to `kept`, which has space for the complete range; returns their number.
  template <class Team>
  VOXHERD_FUNCTION std::uint32_t operator()(Team& team, const pair_range& range, std::uint32_t* kept) const {
    std::uint32_t count = 0;
    for (std::size_t tile = range.first; tile < range.last; tile += team.width()) {
      const std::size_t mine = tile + team.lane();
      bool open = mine < range.last;
      sketch own{};
      if (open) own = read(mine);
      for (std::uint32_t k = 0; open && k < count; ++k) open = !near(own, kept[k]);
      for (;;) {
        const std::uint32_t winner = team.first(open);
        if (winner == team.width()) break;
        if (team.lane() == 0) kept[count] = static_cast<std::uint32_t>(tile + winner);
        if (++count == top_) return count;
        if (team.lane() == winner) open = false;
        if (open) open = !near(own, tile + winner);
      }
    }
    return count;
  }

 private:
  VOXHERD_FUNCTION sketch read(std::size_t place) const {
    sketch s;
    VOXHERD_UNROLL
    for (std::size_t i = 0; i < sketch_floats; ++i) s.point[i / 3][i % 3] = sketches_[place * sketch_floats + i];
    for (std::size_t i = 0; i < 3; ++i) s.mean[i] = means_[3 * place + i];
    return s;
  }

  VOXHERD_FUNCTION bool near(const sketch& own, std::size_t other) const {
    return near_(own, sketches_ + other * sketch_floats, means_ + 3 * other);
  }

  fibre_nearness near_;
  const float* sketches_;
  const float* means_;
  std::uint32_t top_;
};

/// Sums over one share of a pair's candidates.
struct share_sums {
  double measure, length_mm;
  std::uint64_t measured;  ///< candidates whose measure is not NaN
};

/// A pair's candidates are summed in 32 shares (every 32nd candidate in rank order belongs to the same share), and the
/// shares in order: the same additions on every device.
inline constexpr std::uint32_t shares = 32;

VOXHERD_FUNCTION inline share_sums sum_share(const pair_range& range, std::uint32_t share, const std::uint32_t* order,
                                             const float* measure, const float* length_mm) {
  share_sums sums{};
  for (std::size_t i = std::size_t{range.first} + share; i < range.last; i += shares) {
    const float m = measure[order[i]];
    if (m == m) sums.measure += static_cast<double>(m), ++sums.measured;
    sums.length_mm += static_cast<double>(length_mm[order[i]]);
  }
  return sums;
}

VOXHERD_FUNCTION inline pair_summary summarise_pair(const pair_range& range, const share_sums* all, float best) {
  share_sums sums{};
  for (std::uint32_t s = 0; s < shares; ++s) {
    sums.measure += all[s].measure, sums.length_mm += all[s].length_mm;
    sums.measured += all[s].measured;
  }
  pair_summary summary;
  summary.count = range.last - range.first;
  summary.best = best;
  summary.mean_measure = sums.measure / static_cast<double>(sums.measured);
  summary.mean_length_mm = sums.length_mm / static_cast<double>(summary.count);
  return summary;
}

std::vector<std::uint32_t> ranked_cpu(const device& d, const candidates& c);
std::vector<std::uint32_t> ranked_cuda(const candidates& c);

/// Computes the summaries of the pairs in `ranges`.
void summarise_cpu(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                   std::span<const pair_range> ranges, std::span<pair_summary> out);
void summarise_cuda(const candidates& c, std::span<const std::uint32_t> order, std::span<const pair_range> ranges,
                    std::span<pair_summary> out);

/// Kept candidates of all pairs: those of range i start at kept[ranges[i].first]; counts[i] is their number.
struct picks {
  std::vector<std::uint32_t> kept;    ///< same length as the order
  std::vector<std::uint32_t> counts;  ///< same length as the ranges
};
picks distinct_cpu(const device& d, std::span<const float> sketches, std::span<const pair_range> ranges,
                   std::uint32_t top, double distance_mm);
picks distinct_cuda(std::span<const float> sketches, std::span<const pair_range> ranges, std::uint32_t top,
                    double distance_mm);

}  // namespace voxherd::geodesic
