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

linear_table::linear_table(const time_course& t, const std::vector<double>& delay_s)
    : inputs_(delay_s.size()), counts_(t.counts) {
  for (std::size_t i = 0; i < inputs_; ++i)
    for (const double s : t.time_s) values_.push_back(integral(t, t.input(static_cast<int>(i)), s - delay_s[i]));
  for (const double s : t.time_s) values_.push_back(s - t.time_s.front());
}

linear_view linear_table::view_of(const double* values, const std::uint8_t* counts) const {
  const std::size_t frames = counts_.size();
  linear_view view{{}, values + inputs_ * frames, counts, static_cast<int>(frames)};
  for (std::size_t i = 0; i < inputs_; ++i) view.integral[i] = values + i * frames;
  return view;
}

}  // namespace voxherd::perfusion
