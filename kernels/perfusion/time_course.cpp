#include "kernels/perfusion/time_course.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::perfusion {

std::size_t time_course::counted() const {
  return counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0));
}

double time_course::spacing_s() const {
  if (frames() < 2) return 0;
  const double spacing = (time_s.back() - time_s.front()) / static_cast<double>(frames() - 1);
  for (std::size_t i = 0; i < frames(); ++i) {
    const double even = time_s.front() + spacing * static_cast<double>(i);
    if (std::fabs(time_s[i] - even) > 0.01 * spacing) return 0;
  }
  return spacing;
}

namespace {

std::size_t zeros_before(std::size_t frames) { return 2 * frames + 2; }

}  // namespace

template <class Scalar>
curves_table<Scalar>::curves_table(const time_course& t)
    : counts_(t.counts), counted_(static_cast<int>(t.counted())), spacing_s_(t.spacing_s()) {
  for (const auto* curve : {&t.arterial, &t.portal}) {
    const std::size_t end = values_.size() + padded(t.frames());
    values_.insert(values_.end(), zeros_before(t.frames()), Scalar(0));
    for (const double c : *curve) values_.push_back(static_cast<Scalar>(c));
    values_.resize(end, values_.back());
  }
  for (const double s : t.time_s) values_.push_back(static_cast<Scalar>(s - t.time_s.front()));
}

template <class Scalar>
curves_view<Scalar> curves_table<Scalar>::view_of(const Scalar* values, const std::uint8_t* counts) const {
  const std::size_t frames = counts_.size();
  const Scalar* arterial = values + zeros_before(frames);
  return {arterial,
          arterial + padded(frames),
          spacing_s_ > 0 ? nullptr : values + 2 * padded(frames),
          counts,
          static_cast<int>(frames),
          counted_,
          static_cast<Scalar>(spacing_s_)};
}

template class curves_table<float>;
template class curves_table<double>;

}  // namespace voxherd::perfusion
