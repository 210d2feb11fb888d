#include "kernels/track/field.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::track {

namespace {

std::int16_t to_unit(double component) { return static_cast<std::int16_t>(std::lround(component * direction_unit)); }

packed_fibre pack(double polar, double azimuth, double fraction) {
  if (polar == 0 || azimuth == 0 || !std::isfinite(polar) || !std::isfinite(azimuth)) return {};
  const double in_plane = std::sin(polar);
  const double share = fraction > 0 ? std::min(fraction, 1.0) : 0;  // not a number: 0
  return {to_unit(in_plane * std::cos(azimuth)), to_unit(in_plane * std::sin(azimuth)), to_unit(std::cos(polar)),
          static_cast<std::uint16_t>(std::lround(share * fraction_unit))};
}

}  // namespace

void pack_fibres(std::span<const float> polar, std::span<const float> azimuth, std::span<const float> fraction,
                 packed_fibre* packed, std::size_t stride, int threads) {
  const auto count = static_cast<std::ptrdiff_t>(polar.size());
#pragma omp parallel for num_threads(threads)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    packed[at * stride] =
        pack(static_cast<double>(polar[at]), static_cast<double>(azimuth[at]), static_cast<double>(fraction[at]));
  }
}

}  // namespace voxherd::track
