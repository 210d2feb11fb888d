#pragma once

#include "core/step_outputs.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/output_arrays.hpp"

namespace voxherd::ballstick {

struct output_settings {
  settings chain;
  bool all_samples = false;  ///< also the samples of S0, d, d_std, R, f0 and tau

  voxel_model::chain_lengths lengths() const { return chain.lengths(); }
  void set_lengths(const voxel_model::chain_lengths& c) { chain.set_lengths(c); }
};

namespace posterior {

using entry = step_output<output_settings>;
using shape = std::vector<std::uint64_t>;

shape samples(const output_settings& in);
shape parameters(const output_settings& in);
inline bool has_samples(const output_settings& in) { return in.all_samples; }
bool has_gains(const output_settings& in);
shape added_fibres(const output_settings& in);
template <int K>
bool has_fibre(const output_settings& in) {
  return K < in.chain.fibres;
}
template <int parameter_layout::*Place>
bool has(const output_settings& in) {
  return make_parameter_layout(in.chain).*Place >= 0;
}
template <int parameter_layout::*Place>
bool has_samples_of(const output_settings& in) {
  return in.all_samples && has<Place>(in);
}

constexpr std::size_t per_fibre = 6;

/// `#` in a meaning stands for the fibre's number.
template <int K>
constexpr std::array<entry, per_fibre> fibre_entries() {
  constexpr const char* names[max_fibres][per_fibre] = {{"mean_f1", "dyads1", "dyads1_dispersion", "th1", "ph1", "f1"},
                                                        {"mean_f2", "dyads2", "dyads2_dispersion", "th2", "ph2", "f2"},
                                                        {"mean_f3", "dyads3", "dyads3_dispersion", "th3", "ph3", "f3"},
                                                        {"mean_f4", "dyads4", "dyads4_dispersion", "th4", "ph4", "f4"}};
  constexpr auto real = element_type::float32;
  constexpr entry::dependence map{.layout = output_layout::volume, .when = has_fibre<K>},
      rows{.shape = samples, .when = has_fibre<K>};
  return {{{names[K][0], real, 1, "1", "posterior mean of the volume fraction of fibre #", map},
           {names[K][1], real, 3, "1",
            "mean direction of fibre #: principal eigenvector of the mean dyadic, image axes (FSL bvec frame)", map},
           {names[K][2], real, 1, "1", "one less the largest eigenvalue of the mean dyadic of fibre #", map},
           {names[K][3], real, 0, "rad", "posterior samples of the polar angle from z of fibre #", rows},
           {names[K][4], real, 0, "rad", "posterior samples of the azimuth from x of fibre #", rows},
           {names[K][5], real, 0, "1", "posterior samples of the volume fraction of fibre #", rows}}};
}

constexpr auto real = element_type::float32;
constexpr entry::dependence map{.layout = output_layout::volume};
template <int parameter_layout::*Place>
constexpr entry::dependence map_of{.layout = output_layout::volume, .when = has<Place>};
template <int parameter_layout::*Place>
constexpr entry::dependence samples_of{.shape = samples, .when = has_samples_of<Place>};

using L = parameter_layout;
// clang-format off
constexpr entry others[] = {
    {"mean_fsum", real, 1, "1", "sum of the fibres' mean volume fractions", map},
    {"mean_S0", real, 1, "signal", "posterior mean of the signal without diffusion weighting", map},
    {"S0", real, 0, "signal", "posterior samples of the signal without diffusion weighting", samples_of<&L::s0>},
    {"mean_d", real, 1, "mm2/s", "posterior mean of the diffusivity", map},
    {"d", real, 0, "mm2/s", "posterior samples of the diffusivity", samples_of<&L::d>},
    {"mean_d_std", real, 1, "mm2/s", "posterior mean of the standard deviation of the diffusivity", map_of<&L::d_std>},
    {"d_std", real, 0, "mm2/s", "posterior samples of the standard deviation of the diffusivity", samples_of<&L::d_std>},
    {"mean_R", real, 1, "1", "posterior mean of the ratio of perpendicular to parallel diffusivity", map_of<&L::ratio>},
    {"R", real, 0, "1", "posterior samples of the ratio of perpendicular to parallel diffusivity", samples_of<&L::ratio>},
    {"mean_f0", real, 1, "1", "posterior mean of the unattenuated volume fraction", map_of<&L::f0>},
    {"f0", real, 0, "1", "posterior samples of the unattenuated volume fraction", samples_of<&L::f0>},
    {"mean_tau", real, 1, "1/signal^2", "posterior mean of the noise precision", map_of<&L::tau>},
    {"tau", real, 0, "1/signal^2", "posterior samples of the noise precision", samples_of<&L::tau>},
    {"log_likelihood", real, 1, "1", "mean of the samples' log likelihood, without terms that only the data determine",
     {.layout = output_layout::volume, .when = has_gains}},
    {"log_likelihood_gain", real, 0, "1", "log_likelihood gained by a second, third, ... fibre",
     {.layout = output_layout::volume, .shape = added_fibres, .when = has_gains}},
    {"acceptance", real, 0, "1", "fraction of accepted jumps of ", {.layout = output_layout::volume, .shape = parameters}},
    {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)", map},
};
// clang-format on

constexpr auto make_table() {
  const std::array<entry, per_fibre> fibres[max_fibres] = {fibre_entries<0>(), fibre_entries<1>(), fibre_entries<2>(),
                                                           fibre_entries<3>()};
  std::array<entry, max_fibres * per_fibre + std::size(others)> all{};
  std::size_t next = 0;
  for (const auto& fibre : fibres)
    for (const entry& e : fibre) all[next++] = e;
  for (const entry& e : others) all[next++] = e;
  return all;
}

}  // namespace posterior

/// Outputs of ball & stick. All but `status` are zero where that is not `fitted`.
struct posterior_outputs {
  using inputs = output_settings;
  static constexpr auto table = posterior::make_table();
};

/// Arrays of a batch's results, in host or device memory; null for what is not wanted.
using result_arrays = output_arrays<posterior_outputs>;

/// Index of an output of fibre `k`, from 0. `first`: of the first fibre's.
VOXHERD_FUNCTION constexpr std::size_t of_fibre(int k, std::size_t first) {
  return first + static_cast<std::size_t>(k) * posterior::per_fibre;
}

}  // namespace voxherd::ballstick
