#pragma once

#include "kernels/geodesic/ray_tracer.hpp"

namespace voxherd::geodesic {

namespace detail {

/// Sums of one fibre.
struct fibre_sums {
  float length_mm, metric_length, fastest_length, weakest, FA_sum, drift;
};

VOXHERD_FUNCTION inline verdict judge(const trace_job& job, const fibre_account& account, float length_mm,
                                      float measure) {
  const ray_settings& rays = job.rays;
  if (account.excluded) return verdict::excluded;
  if (account.included != (1u << rays.includes) - 1) return verdict::include_missed;
  if (rays.targets && (account.forth.reached == 0 || (rays.two_way && account.back.reached == 0)))
    return verdict::no_target;
  if (account.forth.steps + account.back.steps == 0 || length_mm < rays.min_length_mm) return verdict::too_short;
  return measure >= rays.min_measure ? verdict::accepted : verdict::below_measure;
}

/// Writes all outputs of a fibre.
VOXHERD_FUNCTION inline void write_scores(const trace_job& job, const fibre_account& account, const fibre_sums& sums) {
  const score_arrays& out = job.scores;
  const std::uint64_t n = account.slot;
  const float steps = static_cast<float>(account.forth.steps + account.back.steps);
  const float metric_length = sums.metric_length * job.unit_length;
  const float relative = steps > 0 ? sums.length_mm / sums.fastest_length : 0.0f;
  const float weakest = steps > 0 ? sums.weakest : 0.0f;
  float measure = steps > 0 ? sums.length_mm / metric_length : 0.0f;
  if (job.rays.measure == measure_kind::relative) measure = relative;
  if (job.rays.measure == measure_kind::weakest) measure = weakest;
  const stop_reason stops[2] = {account.forth.stop, account.back.stop};
  const std::uint32_t steps_taken[2] = {account.forth.steps, account.back.steps};
  const std::uint32_t regions[2] = {job.rays.two_way ? account.back.reached : account.own_target,
                                    account.forth.reached};
  out.put<"stops">(n, stops);
  out.put<"steps">(n, steps_taken);
  out.put<"regions">(n, regions);
  out.put<"measure">(n, measure);
  out.put<"length_mm">(n, sums.length_mm);
  out.put<"metric_length">(n, metric_length);
  out.put<"relative">(n, relative);
  out.put<"weakest">(n, weakest);
  out.put<"mean_FA">(n, steps > 0 ? sums.FA_sum / steps : 0.0f);
  out.put<"drift">(n, sums.drift);
  out.put<"verdict">(n, judge(job, account, sums.length_mm, measure));
}

#if defined(__CUDACC__)
#define VOXHERD_NOT_INLINED __noinline__
#else
#define VOXHERD_NOT_INLINED
#endif
/// The same as a function of its own: inlined into the loop over the steps, it would need registers there.
VOXHERD_NOT_INLINED VOXHERD_FUNCTION inline void write_scores_apart(const trace_job& job, const fibre_account account,
                                                                    const fibre_sums sums) {
  write_scores(job, account, sums);
}
#undef VOXHERD_NOT_INLINED

}  // namespace detail

template <class Form>
VOXHERD_FUNCTION inline void ray_tracer<Form>::write_scores(int lane) const {
  const ray_state<number>& s = state_;
  const detail::fibre_sums sums{get(s.length_mm, lane), get(s.metric_length, lane), get(s.fastest_length, lane),
                                get(s.weakest, lane),   get(s.FA_sum, lane),        get(s.drift, lane)};
  if constexpr (Form::fills_registers) {
    detail::write_scores_apart(job_, account_[lane], sums);
  } else {
    detail::write_scores(job_, account_[lane], sums);
  }
}

/// Writes the points of the fibre that are at this step of its current ray.
template <class Form>
VOXHERD_FUNCTION inline void ray_tracer<Form>::write_point(int lane, std::uint32_t step) const {
  const fibre_account& account = account_[lane];
  const std::uint64_t all = std::uint64_t{account.forth.steps} + account.back.steps;
  const std::uint64_t from_end = account.ray == 0 ? account.back.steps + step : account.back.steps - step;
  const std::uint64_t first = job_.offsets[account.slot] - job_.offsets[0];
  const std::uint64_t points = job_.offsets[account.slot + 1] - job_.offsets[account.slot];
  if (points == 0) return;
  // Point i is floor(i all / (points - 1)) steps from the end.
  std::uint64_t i = 0, end = points;
  if (all > 0 && points > 1) {
    i = (from_end * (points - 1) + all - 1) / all;
    end = ((from_end + 1) * (points - 1) + all - 1) / all;
    if (end > points) end = points;
  } else if (all > 0 && from_end != account.back.steps) {
    return;
  }
  float index[3];
  for (int a = 0; a < 3; ++a) index[a] = get(state_.at.cell[a], lane) + get(state_.at.rest[a], lane);
  float world[3];
  transform(job_.field.axes, index, world);
  for (; i < end; ++i) {
    for (int a = 0; a < 3; ++a) job_.points.position[3 * (first + i) + a] = world[a] + job_.field.origin_mm[a];
    if (job_.points.FA != nullptr) job_.points.FA[first + i] = get(state_.FA, lane);
    if (job_.points.relative != nullptr) job_.points.relative[first + i] = get(state_.relative, lane);
  }
}

}  // namespace voxherd::geodesic
