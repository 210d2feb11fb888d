#pragma once

#include "kernels/perfusion/fed_inputs.hpp"
#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/paper/block_fft.hpp"

namespace voxherd::perfusion {

/// The model on even frames by the Block-FFT, in either discretisation (see taps.hpp): one voxel per team.
template <class Number, int Q, int P, discretisation_kind Kind>
class block_fft_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  using fft = block_fft<Number, Q, P>;
  using memory = typename fft::memory;  ///< shared by the team; no need to prepare it

  VOXHERD_FUNCTION block_fft_model(const curves_view<scalar>& view, const block_fft_tables& tables)
      : view_(view), fft_(tables) {}

  /// The cost as model.hpp says, the same bits for all threads of the team, which all call it.
  template <class Team>
  VOXHERD_FUNCTION Number cost(const Team& team, memory& m, const Number (&p)[parameter_count], voxel_samples y) const {
    Number sum(scalar(0));
    curve(team, m, p, [&](int i, Number c) {
      if (view_.counted != view_.frames && view_.counts[i] == 0) return;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - c;
      sum += rest * rest;
    });
    return team.sum(sum);
  }

  /// Calls write(i, C_i) for all frames, each by one thread of the team.
  template <class Team, class Write>
  VOXHERD_FUNCTION void curve(const Team& team, memory& m, const Number (&p)[parameter_count],
                              const Write& write) const {
    feed(team, m, p);
    team.sync();
    fft_.convolve(team, m, [&](int i, Number c) {
      if (i < view_.frames) write(i, c);
    });
    team.sync();
  }

 private:
  template <class Team>
  VOXHERD_FUNCTION void feed(const Team& team, memory& m, const Number (&p)[parameter_count]) const {
    const fed_inputs<Number, Kind> fed(view_, p);
    const Number x = p[kl] * view_.spacing_s;
    team.share(2, [&](int i) { m.lost[i] = fft::lost_in(i == 0 ? x : scalar(fft::frames) * x); });
    const auto put = [&](int i, const Number& value) {
      m.series[i] = i == 0 ? value + before_the_first(fed, x) : value;
    };
    if constexpr (lane::lane_traits<Number>::count > 1) {  // the thread is the complete team
      fed.each(0, view_.frames, put);
      for (int i = view_.frames; i < fft::frames; ++i) m.series[i] = Number(scalar(0));
    } else {
      team.share(fft::frames, [&](int i) { put(i, i < view_.frames ? fed(i) : Number(scalar(0))); });
    }
  }

  /// The rest at frame 0 of earlier inflow.
  VOXHERD_FUNCTION static Number before_the_first(const fed_inputs<Number, Kind>& fed, Number x) {
    Number c(scalar(0));
    if (fed.first() == 0) return c;
    const Number e = decay(x);
    for (int j = fed.first(); j < 0; ++j) c = e * (c + fed(j));
    return c;
  }

  curves_view<scalar> view_;
  fft fft_;
};

/// One CPU thread as the team of block_fft_model.hpp: does all work itself. The same interface as cuda_voxel_team.
struct thread_team {
  /// Calls work(i) for i in [0, count), divided among the team.
  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  /// Sum over the team's threads; all of them get it.
  template <class Number>
  Number sum(const Number& value) const {
    return value;
  }
  /// Orders what threads wrote to shared memory before what others read from it.
  void sync() const {}
};

}  // namespace voxherd::perfusion
