#include "kernels/track/field.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace voxherd::track {

namespace {

std::int16_t to_unit(double component) { return static_cast<std::int16_t>(std::lround(component * direction_unit)); }

std::uint16_t to_fraction(double fraction) {
  const double share = fraction > 0 ? std::min(fraction, 1.0) : 0;  // not a number: 0
  return static_cast<std::uint16_t>(std::lround(share * fraction_unit));
}

packed_fibre pack(double polar, double azimuth, double fraction) {
  if (polar == 0 || azimuth == 0 || !std::isfinite(polar) || !std::isfinite(azimuth)) return {};
  const double in_plane = std::sin(polar);
  return {to_unit(in_plane * std::cos(azimuth)), to_unit(in_plane * std::sin(azimuth)), to_unit(std::cos(polar)),
          to_fraction(fraction)};
}

/// Sine and cosine of a moderate angle with an error below 1e-14, without branches, so that loops of it use SIMD.
struct quick_turn {
  double sine, cosine;

  explicit quick_turn(double angle) {
    const double turns = std::floor(angle * 0.63661977236758134 + 0.5);  // quarter turns
    // pi / 2 in two parts.
    const double r = std::fma(-turns, 6.123233995736766e-17, std::fma(-turns, 1.5707963267948966, angle)), q = r * r;
    double s = 1.6059043836821613e-10, c = -1.1470745597729725e-11;  // 1/13!, -1/14!
    s = std::fma(s, q, -2.5052108385441720e-08), c = std::fma(c, q, 2.0876756987868099e-09);
    s = std::fma(s, q, 2.7557319223985893e-06), c = std::fma(c, q, -2.7557319223985888e-07);
    s = std::fma(s, q, -1.9841269841269841e-04), c = std::fma(c, q, 2.4801587301587302e-05);
    s = std::fma(s, q, 8.3333333333333332e-03), c = std::fma(c, q, -1.3888888888888889e-03);
    s = std::fma(s, q, -1.6666666666666666e-01), c = std::fma(c, q, 4.1666666666666664e-02);
    s = std::fma(s * q, r, r), c = std::fma(c * q, q, std::fma(-0.5, q, 1.0));
    const double half = 0.5 * turns, odd = turns - 2 * std::floor(half);  // 0 or 1
    const double high = std::floor(half) - 2 * std::floor(0.5 * half);    // 0 or 1: half a turn more
    const double sign = 1 - 2 * high;
    sine = sign * (odd != 0 ? c : s);
    cosine = sign * (odd != 0 ? -s : c);
  }
};

/// Fibres whose directions are computed side by side. What is too close to the limit of two integers, or unusual, is
/// left to pack(), so that the result is always that of pack().
struct quick_pack {
  static constexpr std::size_t size = 256;
  std::array<float, size> x, y, z;
  std::array<bool, size> is_certain;

  void compute(const float* polar, const float* azimuth, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double p = static_cast<double>(polar[i]), a = static_cast<double>(azimuth[i]);
      const quick_turn to_axis(p), around(a);
      const double own[3] = {to_axis.sine * around.cosine, to_axis.sine * around.sine, to_axis.cosine};
      double nearest[3], margin = 1;
      for (int d = 0; d < 3; ++d) {
        const double value = own[d] * direction_unit + 0.5;
        nearest[d] = std::floor(value);
        margin = std::min({margin, value - nearest[d], 1 - (value - nearest[d])});
      }
      x[i] = static_cast<float>(nearest[0]), y[i] = static_cast<float>(nearest[1]),
      z[i] = static_cast<float>(nearest[2]);
      constexpr double moderate = 1000;
      is_certain[i] = (margin > 1e-6) & (p != 0) & (a != 0) & (std::abs(p) < moderate) & (std::abs(a) < moderate);
    }
  }
};

/// Sums of comparisons, so that the loop uses SIMD.
packed_values look_at(std::span<const float> polar, std::span<const float> azimuth, std::span<const float> fraction,
                      float first_polar) {
  constexpr float turn = 6.2831855f, rounding = 1e-3f;
  std::uint32_t lost_polar = 0, lost_azimuth = 0, lost_fraction = 0, wide_polar = 0, wide_azimuth = 0, no_share = 0,
                unequal = 0, changes = 0;
  for (std::size_t i = 0; i < polar.size(); ++i) {
    const float p = polar[i], a = azimuth[i], f = fraction[i];
    lost_polar += std::abs(p) <= largest_sample ? 0 : 1;
    lost_azimuth += std::abs(a) <= largest_sample ? 0 : 1;
    lost_fraction += std::abs(f) <= largest_sample ? 0 : 1;
    wide_polar += std::abs(p) > turn ? 1 : 0;
    wide_azimuth += std::abs(a) > turn ? 1 : 0;
    no_share += (f < -rounding) | (f > 1 + rounding) ? 1 : 0;
    unequal += p != a ? 1 : 0;
    changes += p != first_polar ? 1 : 0;
  }
  return {polar.size(), {lost_polar, lost_azimuth, lost_fraction}, {wide_polar, wide_azimuth}, no_share, unequal,
          changes};
}

#pragma omp declare reduction(+ : packed_values : omp_out += omp_in)

}  // namespace

packed_values& packed_values::operator+=(const packed_values& other) {
  values += other.values;
  for (std::size_t i = 0; i < not_finite.size(); ++i) not_finite[i] += other.not_finite[i];
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] += other.wide[i];
  no_share += other.no_share;
  unequal += other.unequal;
  changes += other.changes;
  return *this;
}

packed_values pack_fibres(std::span<const float> polar, std::span<const float> azimuth, std::span<const float> fraction,
                          packed_fibre* packed, std::size_t stride, int threads) {
  constexpr std::size_t size = quick_pack::size;
  const auto blocks = static_cast<std::ptrdiff_t>((polar.size() + size - 1) / size);
  packed_values seen;
#pragma omp parallel for num_threads(threads) reduction(+ : seen)
  for (std::ptrdiff_t block = 0; block < blocks; ++block) {
    const std::size_t first = static_cast<std::size_t>(block) * size, count = std::min(size, polar.size() - first);
    seen += look_at(polar.subspan(first, count), azimuth.subspan(first, count), fraction.subspan(first, count),
                    polar.front());
    quick_pack quick;
    quick.compute(&polar[first], &azimuth[first], count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i;
      const auto integer = [](float value) { return static_cast<std::int16_t>(value); };
      packed[at * stride] = quick.is_certain[i]
                                ? packed_fibre{integer(quick.x[i]), integer(quick.y[i]), integer(quick.z[i]),
                                               to_fraction(static_cast<double>(fraction[at]))}
                                : pack(static_cast<double>(polar[at]), static_cast<double>(azimuth[at]),
                                       static_cast<double>(fraction[at]));
    }
  }
  return seen;
}

std::uint64_t count_overfull(const packed_fibre* packed, std::size_t count, std::size_t stride, std::size_t fibres) {
  constexpr std::uint32_t most = fraction_unit + fraction_unit / 100;
  std::uint64_t overfull = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < fibres; ++k) sum += packed[i * stride + k].fraction;
    overfull += sum > most ? 1 : 0;
  }
  return overfull;
}

void reduce_pairs(std::vector<pair_entry>& entries, std::size_t reduced) {
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(reduced);
  std::ranges::sort(middle, entries.end(), {}, &pair_entry::key);
  std::ranges::inplace_merge(entries, middle, {}, &pair_entry::key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept > 0 && entries[kept - 1].key == entries[i].key) {
      entries[kept - 1].count += entries[i].count;
      entries[kept - 1].steps += entries[i].steps;
    } else {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
}

}  // namespace voxherd::track
