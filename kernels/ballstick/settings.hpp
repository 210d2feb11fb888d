#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/portable/function.hpp"
#include "kernels/voxel_model/chain_lengths.hpp"
#include "kernels/voxel_model/noise_model.hpp"

namespace voxherd::ballstick {

constexpr int max_fibres = 4;

/// How the signal of a compartment falls with b (Behrens 2007; Jbabdi 2012; FSL's numbering).
enum class diffusion_model {
  mono_exponential = 1,  ///< one diffusivity
  gamma = 2,             ///< Gamma-distributed diffusivity, mean d and standard deviation d_std
  zeppelin = 3,          ///< gamma ball; sticks with a perpendicular diffusivity, ratio R
};

using voxel_model::noise_model;

/// Which fibres have the automatic relevance determination prior f^-weight.
enum class relevance_prior { none, all_but_first, all };

/// The user's settings. Defaults are bedpostX's.
struct settings {
  diffusion_model model = diffusion_model::gamma;
  noise_model noise = noise_model::gaussian;
  int fibres = 3;
  relevance_prior relevance = relevance_prior::all_but_first;
  float relevance_weight = 1;
  bool unattenuated = false;            ///< f0, a compartment without attenuation
  bool unattenuated_relevance = false;  ///< 1/f0 prior
  int burn_in_jumps = 1000;
  int sampled_jumps = 1250;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;
  /// Instead of the relevance prior: what each fibre must add to the mean of the log likelihood
  /// (make_gain_estimator()).
  std::optional<float> gain_per_fibre = std::nullopt;
  float ratio_mean = 0.13f;  ///< prior of R, zeppelin model
  float ratio_std = 0.03f;

  int samples() const { return sampled_jumps / sample_every; }
  voxel_model::chain_lengths lengths() const { return {burn_in_jumps, sampled_jumps, sample_every, adapt_every, seed}; }
  void set_lengths(const voxel_model::chain_lengths& c) {
    burn_in_jumps = c.burn_in_jumps, sampled_jumps = c.sampled_jumps, sample_every = c.sample_every;
  }
};

/// Data that all voxels of a run share.
struct chain_settings {
  int measurements;  ///< K
  voxel_model::chain_lengths lengths;
  float max_weighting;  ///< largest b log2(e)
  float relevance_weight;
  bool relevance_of_first, relevance_of_others;
  bool unattenuated, unattenuated_relevance;
  float ratio_mean, ratio_std;
};

inline chain_settings chain_settings_of(const settings& s, std::size_t measurements, float max_weighting) {
  chain_settings c{};
  c.measurements = static_cast<int>(measurements);
  c.lengths = s.lengths();
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

/// The order of a voxel's parameters in starts, samples and acceptance counts. Parameters that a model lacks are absent
/// (-1). f0 comes last, so that the others' indices depend only on the model.
struct parameter_layout {
  int s0 = 0;
  int d = 1;
  int d_std = -1;
  int ratio = -1;
  int tau = -1;
  int first_fibre = 2;  ///< then th, ph, f of each fibre
  int f0 = -1;
  int count = 0;  ///< also the row of the samples, after those of the parameters, that has the noise's `sum`

  VOXHERD_FUNCTION constexpr int rows() const { return count + 1; }
  VOXHERD_FUNCTION constexpr int th(int k) const { return first_fibre + 3 * k; }
  VOXHERD_FUNCTION constexpr int ph(int k) const { return first_fibre + 3 * k + 1; }
  VOXHERD_FUNCTION constexpr int f(int k) const { return first_fibre + 3 * k + 2; }
};

VOXHERD_FUNCTION constexpr parameter_layout make_parameter_layout(diffusion_model model, int fibres, bool unattenuated,
                                                                  noise_model noise) {
  parameter_layout l;
  int next = 2;
  if (model != diffusion_model::mono_exponential) l.d_std = next++;
  if (model == diffusion_model::zeppelin) l.ratio = next++;
  if (noise == noise_model::rician) l.tau = next++;
  l.first_fibre = next;
  next += 3 * fibres;
  if (unattenuated) l.f0 = next++;
  l.count = next;
  return l;
}

inline parameter_layout make_parameter_layout(const settings& s) {
  return make_parameter_layout(s.model, s.fibres, s.unattenuated, s.noise);
}

/// Parameters of any run.
constexpr int max_parameters = 2 + 4 + 3 * max_fibres;

/// Calls use.template operator()<Fibres>() with a number of fibres.
template <class Use>
void with_fibres(int fibres, const Use& use) {
  if (fibres == 1) return use.template operator()<1>();
  if (fibres == 2) return use.template operator()<2>();
  if (fibres == 3) return use.template operator()<3>();
  use.template operator()<4>();
}

/// Supports of section "Priors": d in mm2/s, d_std in mm2/s.
constexpr float max_diffusivity = 0.005f;
constexpr float max_diffusivity_std = 0.01f;
constexpr float max_diffusivity_std_zeppelin = 0.004f;
/// Fractions and spreads below this are rejected: their priors are improper at zero, and chains would drift into
/// denormals.
constexpr float min_positive = 1e-30f;
constexpr float min_diffusivity_std = 1e-12f;

}  // namespace voxherd::ballstick
