#pragma once

#include <cmath>

#include "kernels/ballstick/ballstick.hpp"
#include "kernels/ballstick/sampler.hpp"

namespace voxherd::ballstick {

inline chain_settings chain_settings_of(const settings& s, std::size_t measurements, float max_weighting) {
  chain_settings c{};
  c.measurements = static_cast<int>(measurements);
  c.burn_in_jumps = s.burn_in_jumps;
  c.sampled_jumps = s.sampled_jumps;
  c.sample_every = s.sample_every;
  c.adapt_every = s.adapt_every;
  c.seed = s.seed;
  c.max_weighting = max_weighting;
  c.relevance_weight = s.relevance_weight;
  c.relevance_of_first = s.relevance == relevance_prior::all;
  c.relevance_of_others = s.relevance != relevance_prior::none;
  c.unattenuated = s.unattenuated;
  c.unattenuated_relevance = s.unattenuated_relevance;
  c.ratio_mean = s.ratio_mean;
  c.ratio_std = s.ratio_std;
  return c;
}

/// Calls use.template operator()<Attenuation, Noise, Fibres>() with the kernel's types for these settings: the only
/// place that turns run-time choices into compile-time ones.
template <int Fibres, class Use>
void with_types_of_fibres(const settings& s, Use&& use) {
  const bool rician = s.noise == noise_model::rician;
  switch (s.model) {
    case diffusion_model::mono_exponential:
      return rician ? use.template operator()<mono_exponential, rician_noise, Fibres>()
                    : use.template operator()<mono_exponential, gaussian_noise, Fibres>();
    case diffusion_model::gamma:
      return rician ? use.template operator()<gamma_distributed, rician_noise, Fibres>()
                    : use.template operator()<gamma_distributed, gaussian_noise, Fibres>();
    case diffusion_model::zeppelin:
      return rician ? use.template operator()<zeppelin, rician_noise, Fibres>()
                    : use.template operator()<zeppelin, gaussian_noise, Fibres>();
  }
}

}  // namespace voxherd::ballstick
