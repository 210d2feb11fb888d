#pragma once

#include "kernels/geodesic/ray_tracer.hpp"

namespace voxherd::geodesic {

template <class Form>
VOXHERD_FUNCTION inline void ray_tracer<Form>::step() {
  const ray_settings& rays = job_.rays;
  ray_state<number>& s = state_;
  number velocity[3], force[3], chord[3], move[3], push[3];
  auto sample = form_.read(s.at);
  form_.rates(sample, s.q, velocity, force);
  transform(job_.field.axes, velocity, chord);
  // The parameter's step is chosen anew each time so that the world step is step_mm.
  const number dt = rays.step_mm / lane::sqrt(dot(chord, chord));
  const number energy = form_.energy(sample, s.q, velocity);
  const number metric_step = lane::sqrt(energy) * dt;
  if constexpr (Form::follows_axis) {
    const number scale = dt / rays.step_mm;
    for (int a = 0; a < 3; ++a) s.q[a] = scale * chord[a];
  }
  s.first_energy = lane::select(s.steps == 0.0f, energy, s.first_energy);
  const number drift = Form::follows_axis ? number(0.0f) : lane::abs(energy / s.first_energy - 1.0f);
  // Between voxel centres a ray can be faster than its voxel's largest speed.
  const number fastest_step = lane::max(metric_step * s.speed, number(rays.step_mm));
  s.fastest_step = lane::select(active_, fastest_step, s.fastest_step);
  if (tracing()) {
    lane::each_lane(active_, [&](int i) { write_point(i, static_cast<std::uint32_t>(get(s.steps, i))); });
  }

  for (int a = 0; a < 3; ++a) {
    move[a] = (job_.rule.weight[0] * dt) * velocity[a];
    push[a] = (job_.rule.weight[0] * dt) * force[a];
  }
  VOXHERD_UNROLL_BY(1) for (int stage = 1; stage < job_.rule.stages; ++stage) {
    const number ahead = job_.rule.ahead[stage] * dt, weight = job_.rule.weight[stage] * dt;
    number q[3];
    for (int a = 0; a < 3; ++a) {
      velocity[a] *= ahead;
      q[a] = s.q[a] + ahead * force[a];
    }
    if (!job_.rule.frozen) sample = form_.read(moved(s.at, velocity));
    form_.rates(sample, q, velocity, force);
    for (int a = 0; a < 3; ++a) {
      move[a] += weight * velocity[a];
      push[a] += weight * force[a];
    }
  }

  place<number> to = moved(s.at, move);
  transform(job_.field.axes, move, chord);
  const number chord_mm = lane::sqrt(dot(chord, chord));
  number part = 1.0f;  // of the step; lengths are interpolated linearly
  number stop = 0.0f, FA = s.FA, speed = s.speed;
  if (tracing()) {
    enter_voxels(to, stop, FA, speed, part);
    lane::each_lane(active_, [&](int i) {
      const std::uint32_t all = account_[i].steps_of_ray();
      if (get(s.steps, i) + 1.0f >= static_cast<float>(all))
        put(stop, i, static_cast<float>(static_cast<int>(stop_reason::length)));
    });
  } else {
    stop = find_stops(to, chord, chord_mm, energy, drift);
    enter_voxels(to, stop, FA, speed, part);
    if (rays.stop_at_loops) look_for_loop(to, stop);
    stop = lane::select(stop == 0.0f && s.steps + 1.0f >= static_cast<float>(rays.max_steps),
                        number(static_cast<float>(static_cast<int>(stop_reason::length))), stop);
  }

  const mask on = active_ && detail::counted(stop);
  s.length_mm += lane::select(on, part * chord_mm, number(0.0f));
  s.metric_length += lane::select(on, part * metric_step, number(0.0f));
  s.fastest_length += lane::select(on, part * lane::max(fastest_step, chord_mm), number(0.0f));
  s.FA_sum += lane::select(on, s.FA, number(0.0f));
  // The weakest step is the one that would be longest at the largest speed: one division per fibre.
  s.longest_step = lane::select(on, lane::max(s.longest_step, s.fastest_step), s.longest_step);
  s.drift = lane::select(on, lane::max(s.drift, drift), s.drift);
  s.steps += lane::select(on, number(1.0f), number(0.0f));
  for (int a = 0; a < 3; ++a) {
    s.voxel[a] = lane::select(on, nearest(to, a), s.voxel[a]);
    s.at.cell[a] = lane::select(on, to.cell[a], s.at.cell[a]);
    s.at.rest[a] = lane::select(on, to.rest[a], s.at.rest[a]);
    s.q[a] = lane::select(on, s.q[a] + push[a], s.q[a]);
    s.chord[a] = lane::select(on, chord[a], s.chord[a]);
  }
  s.FA = lane::select(on, FA, s.FA);
  s.speed = lane::select(on, speed, s.speed);

  const mask ended = active_ && !(stop == 0.0f);
  waiting_ = waiting_ || ended;
  active_ = active_ && !ended;
  if (tracing()) return;
  lane::each_lane(ended, [&](int i) {
    account_[i].end_of_ray(static_cast<stop_reason>(static_cast<int>(get(stop, i))),
                           static_cast<std::uint32_t>(get(s.steps, i)));
  });
}

/// Stops that do not depend on the voxels along the step.
template <class Form>
VOXHERD_FUNCTION inline auto ray_tracer<Form>::find_stops(const place<number>& to, const number (&chord)[3],
                                                          number chord_mm, number energy, number drift) const
    -> number {
  const ray_settings& rays = job_.rays;
  const auto code = [](stop_reason r) { return number(static_cast<float>(static_cast<int>(r))); };
  number stop = 0.0f;
  if (rays.max_drift > 0) stop = lane::select(drift > rays.max_drift, code(stop_reason::drift), stop);
  if (rays.min_cosine >= -1.0f) {
    const number before_mm = lane::sqrt(dot(state_.chord, state_.chord));
    const mask turned = state_.steps > 0.0f && dot(chord, state_.chord) < rays.min_cosine * chord_mm * before_mm;
    stop = lane::select(turned, code(stop_reason::curvature), stop);
  }
  mask outside = mask(false);
  for (int a = 0; a < 3; ++a) {
    const number index = to.cell[a] + to.rest[a];
    outside = outside || index < 0.0f || index > static_cast<float>(job_.field.size[a] - 1);
  }
  stop = lane::select(outside, code(stop_reason::volume), stop);
  // A step far longer than requested skips parts of the field. Also catches NaN.
  return lane::select(energy > 0.0f && chord_mm < 2.0f * rays.step_mm, stop, code(stop_reason::numbers));
}

/// Walks lanes that leave their voxel through the voxels that they enter. The last step of a fibre that ends in a
/// target region is cut at the region's face; `part` of it is left. FA, longest_step and drift are those of its start.
template <class Form>
VOXHERD_FUNCTION inline void ray_tracer<Form>::enter_voxels(place<number>& to, number& stop, number& FA, number& speed,
                                                            number& part) {
  mask changed = mask(false);
  for (int a = 0; a < 3; ++a) changed = changed || !(nearest(to, a) == state_.voxel[a]);
  changed = changed && active_ && stop == 0.0f;
  lane::each_lane(changed, [&](int i) {
    float from_index[3], to_index[3];
    int from_voxel[3], to_voxel[3];
    for (int a = 0; a < 3; ++a) {
      from_index[a] = get(state_.at.cell[a], i) + get(state_.at.rest[a], i);
      to_index[a] = get(to.cell[a], i) + get(to.rest[a], i);
      from_voxel[a] = static_cast<int>(get(state_.voxel[a], i));
      to_voxel[a] = static_cast<int>(get(nearest(to, a), i));
    }
    walk_voxels(from_index, to_index, from_voxel, to_voxel, [&](const int(&voxel)[3]) {
      const int* size = job_.field.size;
      for (int a = 0; a < 3; ++a) {
        if (voxel[a] < 0 || voxel[a] >= size[a]) return false;  // a retraced fibre may touch the boundary by rounding
      }
      const voxel_facts facts =
          job_.field.facts[voxel[0] + size[0] * (voxel[1] + static_cast<std::ptrdiff_t>(size[1]) * voxel[2])];
      put(FA, i, facts.FA);
      put(speed, i, facts.speed);
      if (tracing()) {
        if (!ends_fibre(i, facts.regions)) return true;
        if (is_target(account_[i], facts.regions)) put(part, i, cut_at_face(state_.at, voxel, i, to));
        return false;
      }
      float why = enter(account_[i], facts.regions);
      if (why == 0 && facts.FA < job_.rays.min_FA) why = static_cast<float>(static_cast<int>(stop_reason::FA));
      put(stop, i, why);
      if (why == static_cast<float>(static_cast<int>(stop_reason::target)))
        put(part, i, cut_at_face(state_.at, voxel, i, to));
      return why == 0;
    });
  });
}

/// While a fibre is traced again: whether the voxel's regions ended its ray when it was scored. They cannot have ended
/// it before its last step.
template <class Form>
VOXHERD_FUNCTION inline bool ray_tracer<Form>::ends_fibre(int lane, std::uint32_t regions) const {
  const fibre_account& account = account_[lane];
  if (get(state_.steps, lane) + 1.0f < static_cast<float>(account.steps_of_ray())) return false;
  return (regions & region::exclude) != 0 || is_target(account, regions);
}

/// Evaluates the regions of a voxel that a ray enters: the code of its stop, or 0.
template <class Form>
VOXHERD_FUNCTION inline float ray_tracer<Form>::enter(fibre_account& account, std::uint32_t regions) const {
  const auto code = [](stop_reason r) { return static_cast<float>(static_cast<int>(r)); };
  if ((regions & region::exclude) != 0) {
    account.excluded = true;
    return code(stop_reason::exclude);
  }
  // Cortical labels are often outside a white-matter mask: the step that leaves it may still reach them.
  pass_includes(account, regions);
  if (is_target(account, regions)) {
    account.reach(regions >> region::target_shift);
    return code(stop_reason::target);
  }
  return (regions & region::inside) == 0 ? code(stop_reason::mask) : 0;
}

/// A ray loops when it returns to a remembered position. It remembers its positions after 1, 2, 4, ... steps, so that a
/// loop of any length is found after at most three rounds.
template <class Form>
VOXHERD_FUNCTION inline void ray_tracer<Form>::look_for_loop(const place<number>& to, number& stop) {
  constexpr float shortest_loop_steps = 20;
  ray_state<number>& s = state_;
  number away[3], away_mm[3];
  for (int a = 0; a < 3; ++a) away[a] = to.cell[a] + to.rest[a] - s.remembered[a];
  transform(job_.field.axes, away, away_mm);
  const mask back = dot(away_mm, away_mm) < job_.rays.step_mm * job_.rays.step_mm &&
                    s.steps - s.remembered_step > shortest_loop_steps && stop == 0.0f;
  stop = lane::select(back, number(static_cast<float>(static_cast<int>(stop_reason::loop))), stop);
  const mask remember = s.steps >= 2.0f * s.remembered_step + 1.0f;
  for (int a = 0; a < 3; ++a) s.remembered[a] = lane::select(remember, to.cell[a] + to.rest[a], s.remembered[a]);
  s.remembered_step = lane::select(remember, s.steps + 1.0f, s.remembered_step);
}

}  // namespace voxherd::geodesic
