#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/track/field.hpp"

namespace voxherd::track {
namespace {

/// As the text of pack_fibres() says, one fibre after another.
packed_fibre pack_slowly(double polar, double azimuth, double fraction) {
  if (polar == 0 || azimuth == 0 || !std::isfinite(polar) || !std::isfinite(azimuth)) return {};
  const auto unit = [](double v) { return static_cast<std::int16_t>(std::lround(v * direction_unit)); };
  const double share = fraction > 0 ? std::min(fraction, 1.0) : 0;
  return {unit(std::sin(polar) * std::cos(azimuth)), unit(std::sin(polar) * std::sin(azimuth)), unit(std::cos(polar)),
          static_cast<std::uint16_t>(std::lround(share * fraction_unit))};
}

TEST(TrackPack, FibresAreThoseOfTheSlowPackingToTheLastBit) {
  std::mt19937 chance(2);
  std::vector<float> polar, azimuth, fraction;
  for (const double range : {0.01, 4.0, 30.0, 900.0, 6e11})
    for (int i = 0; i < 100000; ++i) {
      std::uniform_real_distribution<double> angle(-range, range), share(-0.1, 1.1);
      polar.push_back(static_cast<float>(angle(chance)));
      azimuth.push_back(static_cast<float>(angle(chance)));
      fraction.push_back(static_cast<float>(share(chance)));
    }
  const float special[] = {0,
                           -0.0f,
                           1e-30f,
                           1.57079633f,
                           3.14159265f,
                           0.785398163f,
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  for (const float p : special)
    for (const float a : special) polar.push_back(p), azimuth.push_back(a), fraction.push_back(p);
  constexpr std::size_t stride = 2;
  std::vector<packed_fibre> packed(stride * polar.size());
  pack_fibres(polar, azimuth, fraction, packed.data(), stride, 2);
  std::size_t different = 0;
  for (std::size_t i = 0; i < polar.size(); ++i) {
    const packed_fibre &found = packed[stride * i],
                       expected = pack_slowly(static_cast<double>(polar[i]), static_cast<double>(azimuth[i]),
                                              static_cast<double>(fraction[i]));
    different +=
        found.x != expected.x || found.y != expected.y || found.z != expected.z || found.fraction != expected.fraction;
  }
  EXPECT_EQ(different, 0u);
}

}  // namespace
}  // namespace voxherd::track
