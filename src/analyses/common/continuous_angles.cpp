#include "src/analyses/common/continuous_angles.hpp"

#include <cmath>
#include <numbers>

namespace voxherd {

namespace {

constexpr double turn = 2 * std::numbers::pi;

/// `angle` plus the whole turns that bring it nearest to another one.
double near(double angle, double other) { return angle + turn * std::round((other - angle) / turn); }

bool has_jumps(std::span<const float> samples) {
  bool found = false;
  for (std::size_t i = 1; i < samples.size(); ++i)
    found |= std::abs(samples[i] - samples[i - 1]) > static_cast<float>(turn / 2);
  return found;
}

}  // namespace

void make_continuous(std::span<float> samples) {
  if (!has_jumps(samples)) return;
  double last = static_cast<double>(samples[0]), sum = 0;
  for (const float sample : samples) sum += last = near(static_cast<double>(sample), last);
  const double mean = near(sum / static_cast<double>(samples.size()), 0);
  for (float& sample : samples) {
    const double angle = near(static_cast<double>(sample), mean);
    sample = static_cast<float>(angle);
  }
}

}  // namespace voxherd
