#include "kernels/perfusion/linear_fitter.hpp"

namespace voxherd::perfusion {

namespace {

/// Integral of a curve from its beginning, one first interval before frame 0, up to a time.
double integral(const time_course& t, const std::vector<double>& curve, double until) {
  double begin = 2 * t.time_s[0] - t.time_s[1], value = 0, sum = 0;
  for (std::size_t j = 0; j < t.frames() && until > begin; ++j) {
    const double end = t.time_s[j], part = until < end ? (until - begin) / (end - begin) : 1;
    sum += part * (end - begin) * (value + part * (curve[j] - value) / 2);
    begin = end;
    value = curve[j];
  }
  // The last value continues.
  return until > t.time_s.back() ? sum + (until - t.time_s.back()) * curve.back() : sum;
}

}  // namespace

linear_table::linear_table(const time_course& t, double arterial_delay_s, double portal_delay_s) : counts_(t.counts) {
  for (const double s : t.time_s) values_.push_back(integral(t, t.arterial, s - arterial_delay_s));
  for (const double s : t.time_s) values_.push_back(integral(t, t.portal, s - portal_delay_s));
  for (const double s : t.time_s) values_.push_back(s - t.time_s.front());
}

linear_view linear_table::view_of(const double* values, const std::uint8_t* counts) const {
  const std::size_t frames = counts_.size();
  return {values, values + frames, values + 2 * frames, counts, static_cast<int>(frames)};
}

}  // namespace voxherd::perfusion
