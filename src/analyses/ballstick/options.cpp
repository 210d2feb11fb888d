#include "src/analyses/ballstick/options.hpp"

namespace voxherd {

namespace {

using ballstick::diffusion_model;
using ballstick::noise_model;
using ballstick::relevance_prior;

constexpr double max_jumps = 10'000'000;

void check_model(const ballstick_model_request& r, const given_options& given) {
  if (r.gain_per_fibre) {
    if (r.fibres < 2) refuse_usage("--fibre-odds: expected --fibres of 2 or more");
    if (r.relevance_weight != 1)  // 1 is in the configurations
      option::refuse_given(given, "ard-weight", "with --fibre-odds, which replaces the relevance prior");
  }
  if (r.sample_every > r.sampled_jumps)
    refuse_usage("--sample-every {}: expected 1 to {}, the number of --jumps", r.sample_every, r.sampled_jumps);
}

}  // namespace

ballstick::settings ballstick_model_request::settings() const {
  ballstick::settings s;
  s.fibres = fibres;
  s.model = static_cast<diffusion_model>(model);
  s.noise = noise;
  s.burn_in_jumps = burn_in_jumps;
  s.sampled_jumps = sampled_jumps;
  s.sample_every = sample_every;
  s.adapt_every = adapt_every;
  s.seed = seed;
  s.relevance = no_relevance    ? relevance_prior::none
                : all_relevance ? relevance_prior::all
                                : relevance_prior::all_but_first;
  s.relevance_weight = static_cast<float>(relevance_weight);
  if (gain_per_fibre) s.gain_per_fibre = static_cast<float>(*gain_per_fibre);
  s.unattenuated = unattenuated;
  s.unattenuated_relevance = unattenuated_relevance;
  s.ratio_mean = static_cast<float>(ratio_mean);
  s.ratio_std = static_cast<float>(ratio_std);
  return s;
}

const option_table<ballstick_model_request>& ballstick_model_options() {
  using T = ballstick_model_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Model", {
      {"fibres", &T::fibres, range{1, ballstick::max_fibres}, {.text = "largest number of fibres in a voxel", .stored = always}},
      {"model", &T::model, range{1, 3},
       {.text = "diffusion along fibres: 1: one diffusivity; 2: a Gamma distribution of diffusivities; 3: as 2, and across fibres too (zeppelins)", .stored = always}},
      {"noise", &T::noise, {{"gaussian", noise_model::gaussian}, {"rician", noise_model::rician}},
       {.text = "distribution of the noise in the signal", .stored = always}},
      {"ard-weight", &T::relevance_weight, range{0, 1000},
       {.text = "weight of the relevance prior, which removes fibres that the data do not support (automatic relevance determination)", .stored = always, .paper = true}},
      {"no-ard", &T::no_relevance, {.text = "no relevance prior: also keep fibres that the data do not support", .stored = always}},
      {"all-ard", &T::all_relevance, {.text = "let the relevance prior remove the first fibre too", .stored = always}},
      {"fibre-odds", &T::gain_per_fibre, range{-1000, 1000},
       {.text = "sample with 1, 2, ... fibres, without the relevance prior, and keep the number with the largest mean log likelihood after subtracting this for each fibre; 5 suits most data", .standard = "the relevance prior", .stored = always}},
      {"f0", &T::unattenuated, {.text = "add a signal that diffusion does not attenuate", .stored = always}},
      {"f0-ard", &T::unattenuated_relevance,
       {.text = "let the relevance prior remove that signal where the data do not support it", .stored = always, .needs = "f0"}},
      {"ratio-mean", &T::ratio_mean, range{0.001, 1},
       {.text = "expected ratio of the diffusivities across and along a fibre (mean of its prior)", .stored = if_it_applies, .needs = "model=3", .paper = true}},
      {"ratio-std", &T::ratio_std, range{0.0001, 1},
       {.text = "standard deviation of that prior", .stored = if_it_applies, .needs = "model=3", .paper = true}}})
    .group("Sampling", {
      {"burn-in", &T::burn_in_jumps, range{0, max_jumps}, {.text = "iterations of the Markov chain (FSL: jumps) before samples are taken", .stored = always}},
      {"jumps", &T::sampled_jumps, range{1, max_jumps}, {.text = "iterations in which samples are taken", .stored = always}},
      {"sample-every", &T::sample_every, range{1, max_jumps},
       {.text = "iterations per stored sample, at most --jumps", .stored = always}},
      {"adapt-every", &T::adapt_every, range{1, max_jumps},
       {.text = "iterations between adjustments of the step sizes", .stored = always, .paper = true}},
      {"random-seed", &T::seed, at_least(0), {.text = "start of the random numbers; the same one gives the same result", .stored = always}},
      {"all-samples", &T::all_samples,
       {.text = "also store the samples of the other parameters: S0, d, d_std, R, f0 and tau", .stored = always}}})
    .at_most_one_of({"no-ard", "all-ard", "fibre-odds"})
    .check(check_model);
  // clang-format on
  return table;
}

const option_table<ballstick_request>& ballstick_options() {
  using T = ballstick_request;
  static const option_table<T> table = option_table<T>()
                                           .include(&T::series, dwi_options())
                                           .include(&T::regions, item_region_options())
                                           .include(&T::model, ballstick_model_options())
                                           .include(&T::run, run_options());
  return table;
}

}  // namespace voxherd
