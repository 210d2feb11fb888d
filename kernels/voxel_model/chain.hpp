#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/portable/draws.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/chain_lengths.hpp"

namespace voxherd::voxel_model {

/// A scaled proposal and the threshold that accepts it.
struct prepared_draw {
  float step;              ///< standard normal times the parameter's proposal SD
  float neg_log2_uniform;  ///< the trial is accepted if its energy rises by less than this
};

/// Jumps are drawn in blocks of about this many updates, divided among the lanes.
constexpr int draws_per_block = 64;

/// Scratch of one team, in memory shared by its lanes.
template <int MaxParameters>
struct chain_scratch {
  prepared_draw draws[draws_per_block + MaxParameters + 2];
  float step_sd[MaxParameters];
  int accepted[MaxParameters];        ///< since the last adaptation
  int accepted_total[MaxParameters];  ///< up to the last adaptation
};

/// Random-walk Metropolis over a voxel's parameters, one scalar at a time, by one team of lanes: draws, adaptation and
/// samples, as in bedpostX (Behrens 2007). `Steps` has
///   count()                   number of parameters
///   one_jump(draws)           updates each of them once; returns a bit for each accepted trial
///   store_sample(column)      writes the current values, `samples` apart
///   is_angle(p)
template <class Team, class Steps, class Scratch>
class chain {
 public:
  VOXHERD_FUNCTION chain(const Team& team, const chain_lengths& lengths, Scratch& scratch, Steps& steps)
      : team_(team), lengths_(lengths), scratch_(scratch), steps_(steps) {}

  /// Runs the complete chain of the voxel with this index in the image. `samples`: (parameter, sample); `acceptance`:
  /// each parameter's share of accepted jumps. `store`: whether to store results (the last teams of a grid may have no
  /// voxel).
  VOXHERD_FUNCTION void run(std::uint64_t voxel, float* samples, float* acceptance, bool store) {
    const int count = steps_.count();
    const int jumps = lengths_.burn_in_jumps + lengths_.sampled_jumps;
    const int fitting = draws_per_block / count;
    const int jumps_per_block = fitting > 0 ? fitting : 1;
    int until_adaptation = lengths_.adapt_every;
    int until_sample = lengths_.burn_in_jumps + lengths_.sample_every;
    int sample = 0;
    for (int jump = 0; jump < jumps;) {
      int block = jumps_per_block < until_adaptation ? jumps_per_block : until_adaptation;
      if (jump + block > jumps) block = jumps - jump;
      const prepared_draw* draws = prepare_draws(voxel, jump, block);
      for (int j = 0; j < block; ++j) {
        const unsigned accepted = steps_.one_jump(draws + j * count);
        team_.share(count, [&](int p) { scratch_.accepted[p] += static_cast<int>((accepted >> p) & 1u); });
        if (--until_sample == 0) {
          until_sample = lengths_.sample_every;
          if (store) team_.once([&] { steps_.store_sample(samples + sample); });
          ++sample;
        }
      }
      jump += block;
      until_adaptation -= block;
      if (until_adaptation == 0) {
        until_adaptation = lengths_.adapt_every;
        team_.share(count, [&](int p) { adapt(p); });
      }
      team_.sync();
    }
    team_.share(count, [&](int p) {
      const int accepted = scratch_.accepted_total[p] + scratch_.accepted[p];
      if (store) acceptance[p] = static_cast<float>(accepted) / static_cast<float>(jumps);
    });
  }

 private:
  /// Draws for `block` jumps from `jump` on, divided among the lanes, two updates at a time.
  VOXHERD_FUNCTION const prepared_draw* prepare_draws(std::uint64_t voxel, int jump, int block) {
    const int count = steps_.count();
    const std::uint64_t first = static_cast<std::uint64_t>(jump) * static_cast<std::uint64_t>(count);
    const int odd = static_cast<int>(first & 1u);
    team_.share((odd + block * count + 1) / 2, [&](int i) {
      const draw_pair d = draw(lengths_.seed, voxel, first / 2 + static_cast<std::uint64_t>(i));
      VOXHERD_UNROLL
      for (int j = 0; j < 2; ++j) {
        const int update = 2 * i + j - odd;  // within the block
        const int p = update < 0 ? 0 : update % count;
        scratch_.draws[2 * i + j] = {d.normal[j] * scratch_.step_sd[p], d.neg_log2_uniform[j]};
      }
    });
    team_.sync();
    return scratch_.draws + odd;
  }

  /// Drives a parameter's acceptance towards one half. Angle steps are limited to a few turns: a longer wrapped step is
  /// uniform anyway.
  VOXHERD_FUNCTION void adapt(int p) {
    const int accepted = scratch_.accepted[p];
    const int rejected = lengths_.adapt_every - accepted;
    const float sd = scratch_.step_sd[p] * sqrtf(static_cast<float>(accepted + 1) / static_cast<float>(rejected + 1));
    scratch_.step_sd[p] = lane::min(sd, steps_.is_angle(p) ? 25.0f : 1e10f);
    scratch_.accepted_total[p] += accepted;
    scratch_.accepted[p] = 0;
  }

  const Team& team_;
  const chain_lengths& lengths_;
  Scratch& scratch_;
  Steps& steps_;
};

/// The Metropolis rule; an accepted sum becomes the noise model's current one. `lane_sum`: of the trial; `prior`:
/// change of the prior's energy, units of ln 2. A NaN is rejected.
template <class Team, class Noise>
VOXHERD_FUNCTION inline bool accepts(const Team& team, Noise& noise, bool supported, typename Team::real lane_sum,
                                     float prior, const prepared_draw& draw) {
  const auto trial = noise.measure(team, lane_sum);
  if (!team.agreed(supported && noise.change(trial) + prior < draw.neg_log2_uniform)) return false;
  noise.accept(trial);
  return true;
}

/// Several independent sums, so that a slot need not wait for the previous addition.
template <class Team>
struct partial_sums {
  using real = typename Team::real;
  real part[Team::partial_sums] = {};
  VOXHERD_FUNCTION real& operator[](int s) { return part[s % Team::partial_sums]; }
  VOXHERD_FUNCTION real value() const {
    real all = part[0];
    VOXHERD_UNROLL
    for (int i = 1; i < Team::partial_sums; ++i) all += part[i];
    return all;
  }
};

/// A direction with the sines and cosines that the updates of its two angles share.
struct polar_direction {
  float th, ph, sin_th, cos_th, sin_ph, cos_ph;
  VOXHERD_FUNCTION void set_th(float angle) {
    th = wrapped(angle);
    lane::sincos(th, sin_th, cos_th);
  }
  VOXHERD_FUNCTION void set_ph(float angle) {
    ph = wrapped(angle);
    lane::sincos(ph, sin_ph, cos_ph);
  }
  /// To [-pi, pi]: the chain uses only the sine and cosine of an angle.
  VOXHERD_FUNCTION static float wrapped(float angle) {
    return lane::fma(-6.283185307f, lane::round(angle * 0.1591549431f), angle);
  }
};

}  // namespace voxherd::voxel_model
