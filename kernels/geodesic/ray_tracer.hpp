#pragma once

#include "kernels/geodesic/place.hpp"
#include "kernels/geodesic/trace_job.hpp"
#include "kernels/portable/voxel_walk.hpp"

namespace voxherd::geodesic {

/// State of a ray, and accumulated values of its fibre (one or two rays), for each lane.
template <class Number>
struct ray_state {
  place<Number> at;
  Number q[3];
  Number voxel[3];       ///< voxel of these facts
  Number FA, speed;      ///< facts of that voxel
  Number chord[3];       ///< the last step, in the world (mm); zero before the first
  Number remembered[3];  ///< an earlier position of this ray, to detect loops: index coordinates
  Number steps, remembered_step;
  Number fastest_step;  ///< length (mm) of the last step at the largest speed; step_mm / this is its relative speed
  Number first_energy;

  Number length_mm, metric_length, fastest_length, longest_step, FA_sum, drift;  ///< sums and extremes of the path
};

/// One of a fibre's two rays.
struct ray_account {
  std::uint32_t steps, reached;
  stop_reason stop;
};

/// The remaining state of a lane's fibre, used when it enters a voxel, ends or starts. Two named members instead of an
/// array, because a run-time index would move it from registers to memory.
struct fibre_account {
  std::uint64_t slot;      ///< position of its results in the batch
  std::uint32_t included;  ///< inclusion regions passed, one bit each
  std::uint32_t own_target;
  ray_account forth, back;  ///< along +u and -u
  bool started, excluded;
  int ray;  ///< current ray: 0 forth, 1 back

  VOXHERD_FUNCTION std::uint32_t steps_of_ray() const { return ray == 0 ? forth.steps : back.steps; }
  VOXHERD_FUNCTION void reach(std::uint32_t target) {
    if (ray == 0) forth.reached = target;
    if (ray == 1) back.reached = target;
  }
  VOXHERD_FUNCTION void end_of_ray(stop_reason why, std::uint32_t steps) {
    if (ray == 0) forth.stop = why, forth.steps = steps;
    if (ray == 1) back.stop = why, back.steps = steps;
  }
};

namespace detail {

/// Whether the step that caused this stop belongs to the fibre.
template <class Number>
VOXHERD_FUNCTION inline auto counted(const Number& stop) {
  const auto is = [&](stop_reason r) { return stop == static_cast<float>(static_cast<int>(r)); };
  return is(stop_reason::none) || is(stop_reason::target) || is(stop_reason::exclude) || is(stop_reason::length) ||
         is(stop_reason::loop);
}

}  // namespace detail

/// Integrates fibres, one per lane. A lane whose fibre has ended takes the next one, so that lanes stay busy although
/// fibres end at different times.
template <class Form>
class ray_tracer {
 public:
  using number = typename Form::number;
  using mask = typename lane_traits<number>::mask;
  static constexpr int lanes = lane_traits<number>::count;

  VOXHERD_FUNCTION ray_tracer(const trace_job& job, const Form& form) : job_(job), form_(form), state_{} {}

  /// The team consists of the lanes that run together. next() returns the position in the batch of a fibre not started
  /// yet, or at least the batch's size; any() combines all its lanes; enough() decides whether waiting lanes get a ray
  /// now.
  template <class Team>
  VOXHERD_FUNCTION void run(Team& team) {
    while (team.any(active_ || waiting_)) {
      if (team.enough(waiting_, active_) && any(waiting_)) begin_rays(team);
      if (any(active_)) step();
    }
  }

 private:
  VOXHERD_FUNCTION bool tracing() const { return job_.chosen != nullptr; }
  VOXHERD_FUNCTION std::uint64_t fibre_at(std::uint64_t slot) const {
    return tracing() ? job_.chosen[slot] : job_.first + slot;
  }

  /// Gives each waiting lane the next ray: the second one of its fibre, or the first of a fibre not started yet.
  template <class Team>
  VOXHERD_FUNCTION void begin_rays(Team& team) {
    number v[3] = {};
    mask fresh = mask(false);
    for (int i = 0; i < lanes; ++i) {
      if (!get(waiting_, i)) continue;
      bool placed = false;
      while (!placed) {
        if (!begin_ray(i, team)) break;
        placed = place_lane(i, v);
      }
      put(active_, i, placed);
      put(fresh, i, placed);
    }
    waiting_ = mask(false);
    number q[3];
    form_.start(state_.at, v, q);
    for (int a = 0; a < 3; ++a) {
      state_.q[a] = lane::select(fresh, q[a], state_.q[a]);
      state_.chord[a] = lane::select(fresh, number(0.0f), state_.chord[a]);
      state_.remembered[a] = lane::select(fresh, state_.at.cell[a] + state_.at.rest[a], state_.remembered[a]);
    }
    state_.steps = lane::select(fresh, number(0.0f), state_.steps);
    state_.remembered_step = lane::select(fresh, number(0.0f), state_.remembered_step);
  }

  /// Ends the lane's ray, if it has one, and decides what follows. False if nothing is left.
  template <class Team>
  VOXHERD_FUNCTION bool begin_ray(int lane, Team& team) {
    fibre_account& account = account_[lane];
    if (account.started) {
      if (tracing()) write_point(lane, account.steps_of_ray());
      if (job_.rays.two_way && account.ray == 0 && !account.excluded) {
        account.ray = 1;
        return true;
      }
      if (!tracing()) write_scores(lane);
    }
    account = {};
    account.slot = team.next();
    if (account.slot >= job_.count) return false;
    account.started = true;
    put(state_.length_mm, lane, 0.0f);
    put(state_.metric_length, lane, 0.0f);
    put(state_.fastest_length, lane, 0.0f);
    put(state_.FA_sum, lane, 0.0f);
    put(state_.drift, lane, 0.0f);
    put(state_.longest_step, lane, job_.rays.step_mm);
    if (!tracing()) return true;
    account.forth.steps = job_.steps[2 * account.slot];
    account.back.steps = job_.steps[2 * account.slot + 1];
    return true;
  }

  /// False if the ray ends where it starts.
  VOXHERD_FUNCTION bool place_lane(int lane, number (&v)[3]) {
    fibre_account& account = account_[lane];
    const std::uint64_t fibre = fibre_at(account.slot);
    const std::uint32_t directions = job_.rays.directions_per_seed;
    const seed from = job_.seeds[fibre / directions];
    float u[3];
    start_direction(job_.rays, from, fibre, static_cast<std::uint32_t>(fibre % directions), u);
    bool inside = true;
    std::ptrdiff_t voxel = 0;
    for (int a = 2; a >= 0; --a) {
      const double cell = std::floor(from.voxel[a]), nearest_voxel = std::floor(from.voxel[a] + 0.5);
      put(state_.at.cell[a], lane, static_cast<float>(cell));
      put(state_.at.rest[a], lane, static_cast<float>(from.voxel[a] - cell));
      put(state_.voxel[a], lane, static_cast<float>(nearest_voxel));
      inside = inside && from.voxel[a] >= 0 && from.voxel[a] <= job_.field.size[a] - 1;
      voxel = voxel * job_.field.size[a] + (inside ? static_cast<std::ptrdiff_t>(nearest_voxel) : 0);
      const float* row = job_.field.inverse_axes + 3 * a;
      const float along = row[0] * u[0] + row[1] * u[1] + row[2] * u[2];
      put(v[a], lane, account.ray == 0 ? along : -along);
    }
    put(state_.fastest_step, lane, 0.0f);
    if (!inside) return stop_at_start(account, stop_reason::volume);
    assert(voxel >= 0 && voxel < std::ptrdiff_t{1} * job_.field.size[0] * job_.field.size[1] * job_.field.size[2]);
    const voxel_facts facts = job_.field.facts[voxel];
    put(state_.FA, lane, facts.FA);
    put(state_.speed, lane, facts.speed);
    account.own_target = facts.regions >> region::target_shift;
    if (tracing()) return account.steps_of_ray() > 0;
    if (account.ray == 0) pass_includes(account, facts.regions);
    account.excluded = (facts.regions & region::exclude) != 0;
    if (account.excluded) return stop_at_start(account, stop_reason::exclude);
    if ((facts.regions & region::inside) == 0) return stop_at_start(account, stop_reason::mask);
    if (facts.FA < job_.rays.min_FA) return stop_at_start(account, stop_reason::FA);
    return true;
  }

  VOXHERD_FUNCTION static bool stop_at_start(fibre_account& account, stop_reason why) {
    account.end_of_ray(why, 0);
    return false;
  }

  VOXHERD_FUNCTION void pass_includes(fibre_account& account, std::uint32_t regions) const {
    const std::uint32_t here = (regions / region::first_include) & ((1u << job_.rays.includes) - 1);
    if (!job_.rays.ordered) {
      account.included |= here;
      return;
    }
    // In order: region n counts after regions 0 to n - 1 have been passed. A voxel may be in several.
    while ((here & (account.included + 1)) != 0) account.included = 2 * account.included + 1;
  }

  VOXHERD_FUNCTION void step();
  VOXHERD_FUNCTION number find_stops(const place<number>& to, const number (&chord)[3], number chord_mm, number energy,
                                     number drift) const;
  VOXHERD_FUNCTION void enter_voxels(place<number>& to, number& stop, number& FA, number& speed, number& part);
  VOXHERD_FUNCTION bool ends_fibre(int lane, std::uint32_t regions) const;
  VOXHERD_FUNCTION float enter(fibre_account& account, std::uint32_t regions) const;
  VOXHERD_FUNCTION bool is_target(const fibre_account& account, std::uint32_t regions) const {
    const std::uint32_t target = regions >> region::target_shift;
    return job_.rays.targets && target != 0 && target != account.own_target;
  }
  VOXHERD_FUNCTION void look_for_loop(const place<number>& to, number& stop);

  VOXHERD_FUNCTION void write_scores(int lane) const;
  VOXHERD_FUNCTION void write_point(int lane, std::uint32_t step) const;

  const trace_job& job_;
  Form form_;
  ray_state<number> state_;
  fibre_account account_[lanes] = {};
  mask active_ = mask(false), waiting_ = mask(true);
};

namespace detail {

/// Sums of one fibre.
struct fibre_sums {
  float length_mm, metric_length, fastest_length, longest_step, FA_sum, drift;
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
  const float weakest = steps > 0 ? job.rays.step_mm / sums.longest_step : 0.0f;
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
  const detail::fibre_sums sums{get(s.length_mm, lane),    get(s.metric_length, lane), get(s.fastest_length, lane),
                                get(s.longest_step, lane), get(s.FA_sum, lane),        get(s.drift, lane)};
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
  const float fastest_step = get(state_.fastest_step, lane);
  const float relative = fastest_step > 0 ? job_.rays.step_mm / fastest_step : 0.0f;
  for (; i < end; ++i) {
    for (int a = 0; a < 3; ++a) job_.points.position[3 * (first + i) + a] = world[a] + job_.field.origin_mm[a];
    if (job_.points.FA != nullptr) job_.points.FA[first + i] = get(state_.FA, lane);
    if (job_.points.relative != nullptr) job_.points.relative[first + i] = relative;
  }
}

}  // namespace voxherd::geodesic

#include "kernels/geodesic/ray_tracer.inl"
