#include "src/analyses/noddi/options.hpp"

namespace voxherd {

using noddi::dispersion_prior;
using noddi::noise_model;

namespace {
constexpr double max_jumps = 10'000'000, max_samples = 100'000;
}

noddi::settings noddi_request::settings() const {
  noddi::settings s;
  s.d_par_mm2_per_s = model.d_par_mm2_per_s;
  s.d_iso_mm2_per_s = model.d_iso_mm2_per_s;
  s.dot = model.dot;
  s.noise = model.noise;
  s.sigma = model.sigma.value_or(0);
  s.samples = sampling.samples;
  s.prior = sampling.prior;
  s.burn_in_jumps = sampling.burn_in_jumps;
  s.sample_every = sampling.sample_every;
  s.adapt_every = sampling.adapt_every;
  s.seed = sampling.seed;
  return s;
}

const option_table<noddi_model_request>& noddi_model_options() {
  using T = noddi_model_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Model", {
      {"d-par", &T::d_par_mm2_per_s, range{1e-4, 4e-3},
       {.text = "diffusivity along neurites; for the cortex 0.0011, for fixed tissue 0.0006", .unit = "mm2/s", .stored = always}},
      {"d-iso", &T::d_iso_mm2_per_s, range{1e-4, 6e-3},
       {.text = "diffusivity of free water; for fixed tissue 0.002", .unit = "mm2/s", .stored = always}},
      {"dot", &T::dot, {.text = "add a signal that diffusion does not attenuate, as in fixed tissue", .stored = always}},
      {"noise", &T::noise, {{"gaussian", noise_model::gaussian}, {"rician", noise_model::rician}},
       {.text = "distribution of the noise in the signal", .stored = always}},
      {"sigma", &T::sigma, range{1e-9, 1e9},
       {.text = "standard deviation of the Rician noise", .unit = "signal", .standard = "estimated in each voxel", .stored = if_it_applies, .needs = "noise=rician"}}});
  // clang-format on
  return table;
}

namespace {

const option_table<noddi_sampling_request>& sampling_options() {
  using T = noddi_sampling_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Sampling", {
      {"samples", &T::samples, range{0, max_samples},
       {.text = "samples of the posterior in each voxel, for means and standard deviations; 0: best fit only", .stored = always}},
      {"prior", &T::prior, {{"odi", dispersion_prior::odi}, {"kappa", dispersion_prior::kappa}},
       {.text = "dispersion that is uniform before the data are seen; kappa: as cuDIMOT, half of it below ODI 0.02", .stored = if_it_applies, .needs = "samples"}},
      {"burn-in", &T::burn_in_jumps, range{0, max_jumps},
       {.text = "iterations of the Markov chain before samples are taken", .stored = if_it_applies, .needs = "samples"}},
      {"sample-every", &T::sample_every, range{1, max_jumps},
       {.text = "iterations per sample", .stored = if_it_applies, .needs = "samples"}},
      {"adapt-every", &T::adapt_every, range{1, max_jumps},
       {.text = "iterations between adjustments of the step sizes", .stored = if_it_applies, .needs = "samples", .paper = true}},
      {"random-seed", &T::seed, at_least(0),
       {.text = "start of the random numbers; the same one gives the same result", .stored = if_it_applies, .needs = "samples"}}});
  // clang-format on
  return table;
}

}  // namespace

const option_table<noddi_request>& noddi_options() {
  using T = noddi_request;
  static const option_table<T> table = option_table<T>()
                                           .include(&T::series, dwi_options())
                                           .include(&T::model, noddi_model_options())
                                           .include(&T::sampling, sampling_options())
                                           .include(&T::run, run_options());
  return table;
}

}  // namespace voxherd
