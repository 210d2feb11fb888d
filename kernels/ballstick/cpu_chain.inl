#include "kernels/ballstick/ballstick_cpu.hpp"

namespace voxherd::ballstick {

template <int Fibres>
void run_cpu_chain(const settings& s, const chain_settings& c, const cpu_measurements& m, const float* start,
                   std::uint64_t voxel, cpu_scratch& scratch, float* samples, float* acceptance) {
  using array = memory_array<cpu_scratch::real>;
  with_types_of_fibres<Fibres>(s, [&]<class Attenuation, class Noise, int N>() {
    using arrays = signal_arrays<array, array, N>;
    using chain = sampler<cpu_team<float>, cpu_measurements, arrays, Attenuation, Noise, N>;
    const cpu_team<float> team;
    auto* next = scratch.arrays.data();
    const auto take = [&] {
      auto* const place = next;
      next += m.slot_count;
      return array{place};
    };
    arrays a;
    a.residual = take(), a.ball = take(), a.trial_direction = take(), a.trial_ball = take();
    for (int k = 0; k < N; ++k) a.stick[k] = take(), a.trial_stick[k] = take();
    chain(team, m, c, a, scratch.chain, start).run(voxel, samples, acceptance, true);
  });
}

}  // namespace voxherd::ballstick
