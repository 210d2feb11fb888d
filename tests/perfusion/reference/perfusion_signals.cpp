#include "tests/perfusion/reference/perfusion_signals.hpp"

#include <cmath>
#include <numbers>

namespace voxherd::reference {

using namespace perfusion;

namespace {

constexpr double degree = std::numbers::pi / 180;

/// Ernst's equation as printed; M0 is 1000.
double spoiled_echo_signal(double TR, double a, double R1) {
  const double E = std::exp(-TR * R1);
  return 1000 * std::sin(a) * (1 - E) / (1 - E * std::cos(a));
}

double signal_of(const conversion& convert, double C, double t1_s) {
  const double R10 = 1 / t1_s;
  switch (convert.signal) {
    case signal_kind::linear:
      return 150 * (1 + convert.relaxivity_per_mM_s * C / R10);
    case signal_kind::spoiled_echo:
      return spoiled_echo_signal(convert.repetition_s, convert.flip_rad, R10 + convert.relaxivity_per_mM_s * C);
    case signal_kind::ct:
      return 60 + C;
    default:
      return C;
  }
}

}  // namespace

std::vector<std::pair<const char*, conversion>> every_conversion() {
  conversion mr;
  mr.signal = signal_kind::linear;
  mr.baseline_begin = 0, mr.baseline_end = 4;
  mr.relaxivity_per_mM_s = 4;
  mr.repetition_s = 0.004, mr.flip_rad = 20 * degree;
  mr.t1_s = 0.8;
  conversion echo = mr, mapped = mr, angles = mr, ct = mr;
  echo.signal = mapped.signal = angles.signal = signal_kind::spoiled_echo;
  mapped.t1 = t1_source::map;
  angles.t1 = t1_source::flip_angles;
  angles.flip_angles = 3;
  angles.t1_flip_rad = {2 * degree, 10 * degree, 20 * degree};
  angles.t1_repetition_s = 0.004;
  ct.signal = signal_kind::ct;
  return {{"linear", mr}, {"spoiled echo", echo}, {"T1 map", mapped}, {"flip angles", angles}, {"CT", ct}};
}

double true_t1_s(const conversion& convert, std::size_t voxel) {
  if (!convert.needs_t1()) return 0;
  return convert.t1 == t1_source::constant ? convert.t1_s : 0.6 + 0.01 * static_cast<double>(voxel % 50);
}

perfusion_case signals_of(const perfusion_case& c, const conversion& convert) {
  perfusion_case signals{c.frames, {}, c.count};
  const std::size_t width = c.frames.frames();
  for (std::size_t v = 0; v < c.count; ++v) {
    const double t1_s = true_t1_s(convert, v);
    for (std::size_t i = 0; i < width; ++i) {
      const float C = c.rows[v * width + i];
      const bool as_it_is = expected_status(v) != 0 || c.frames.counts[i] == 0;
      signals.rows.push_back(as_it_is ? C : static_cast<float>(signal_of(convert, static_cast<double>(C), t1_s)));
    }
    if (convert.extras() > 0 && convert.t1 == t1_source::map) signals.rows.push_back(static_cast<float>(t1_s));
    if (convert.extras() > 0 && convert.t1 == t1_source::flip_angles)
      for (std::size_t a = 0; a < static_cast<std::size_t>(convert.flip_angles); ++a)
        signals.rows.push_back(
            static_cast<float>(spoiled_echo_signal(convert.t1_repetition_s, convert.t1_flip_rad[a], 1 / t1_s)));
  }
  return signals;
}

}  // namespace voxherd::reference
