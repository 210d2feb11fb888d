#include "kernels/perfusion/curves.hpp"

namespace voxherd::perfusion {

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
