#include "src/analyses/common/model_options.hpp"

namespace voxherd {

using voxel_model::noise_model;

voxel_model::settings estimation_request::settings() const {
  return {noise.noise,           noise.sigma.value_or(0), sampling.samples, sampling.burn_in_jumps,
          sampling.sample_every, sampling.adapt_every,    sampling.seed};
}

const option_table<noise_request>& noise_options() {
  using T = noise_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Model", {
      {"noise", &T::noise, {{"gaussian", noise_model::gaussian}, {"rician", noise_model::rician}},
       {.text = "distribution of the noise in the signal", .stored = always}},
      {"sigma", &T::sigma, range{1e-9, 1e9},
       {.text = "standard deviation of the Rician noise", .unit = "signal", .standard = "estimated in each voxel", .stored = if_it_applies, .needs = "noise=rician"}}});
  // clang-format on
  return table;
}

const option_table<sampling_request>& sampling_options() {
  using T = sampling_request;
  constexpr double max_jumps = 10'000'000, max_samples = 100'000;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Sampling", {
      {"samples", &T::samples, range{0, max_samples},
       {.text = "samples of the posterior in each voxel, for means and standard deviations; 0: best fit only", .stored = always}},
      {"burn-in", &T::burn_in_jumps, range{0, max_jumps},
       {.text = "iterations of the Markov chain before samples are taken", .stored = if_it_applies, .needs = "samples"}},
      {"sample-every", &T::sample_every, range{1, max_jumps},
       {.text = "iterations per sample", .stored = if_it_applies, .needs = "samples"}},
      {"adapt-every", &T::adapt_every, range{1, max_jumps},
       {.text = "iterations between adjustments of the step sizes", .stored = if_it_applies, .needs = "samples", .paper = true}},
      {"random-seed", &T::seed, at_least(0),
       {.text = "start of the random numbers; the same one gives the same result", .stored = if_it_applies, .needs = "samples"}}})
    .check([](const T& r, const given_options&) {
      constexpr double max_iterations = 2e9;
      const double sampled = static_cast<double>(r.samples) * r.sample_every, all = r.burn_in_jumps + sampled;
      if (all > max_iterations)
        refuse_usage("--samples {} with --sample-every {}: the chain would have {:.3g} iterations, expected at most {:g}", r.samples, r.sample_every, all, max_iterations);
    });
  // clang-format on
  return table;
}

const option_table<estimation_request>& estimation_options() {
  using T = estimation_request;
  static const option_table<T> table =
      option_table<T>().include(&T::noise, noise_options()).include(&T::sampling, sampling_options());
  return table;
}

}  // namespace voxherd
