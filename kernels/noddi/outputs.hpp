#pragma once

#include "core/step_outputs.hpp"
#include "kernels/noddi/settings.hpp"
#include "kernels/portable/output_arrays.hpp"

namespace voxherd::noddi {

namespace outputs {

using entry = step_output<settings>;
using shape = std::vector<std::uint64_t>;

bool has_dot(const settings& s);
bool has_sigma(const settings& s);
bool is_sampled(const settings& s);
bool has_dot_samples(const settings& s);
bool has_sigma_samples(const settings& s);
shape samples(const settings& s);
shape acceptances(const settings& s);

constexpr auto real = element_type::float32;
constexpr entry::dependence map{.layout = output_layout::volume};
constexpr entry::dependence map_if(bool (*when)(const settings&)) {
  return {.layout = output_layout::volume, .when = when};
}
constexpr entry::dependence rows_if(bool (*when)(const settings&)) { return {.shape = samples, .when = when}; }

}  // namespace outputs

/// Outputs of NODDI: the best fit or, of a sampled run, posterior means. All but `status` are zero where that is not
/// `fitted`.
struct noddi_outputs {
  using inputs = settings;
  // clang-format off
  static constexpr outputs::entry table[] = {
      {"NDI", outputs::real, 1, "1", "neurite density index: part of the tissue's signal from inside neurites", outputs::map},
      {"ODI", outputs::real, 1, "1", "orientation dispersion index, 0 for parallel neurites, 1 for all directions alike", outputs::map},
      {"FWF", outputs::real, 1, "1", "free water fraction: part of the signal at b=0", outputs::map},
      {"tf", outputs::real, 1, "1", "tissue fraction, 1 - FWF", outputs::map},
      {"kappa", outputs::real, 1, "1", "concentration of the Watson distribution of directions", outputs::map},
      {"direction", outputs::real, 3, "1", "mean direction of neurites along the axes of the bvecs, sign arbitrary", outputs::map},
      {"S0", outputs::real, 1, "signal", "signal without diffusion weighting", outputs::map},
      {"dot", outputs::real, 1, "1", "part of the signal that diffusion does not attenuate (--dot)", outputs::map_if(outputs::has_dot)},
      {"sigma", outputs::real, 1, "signal", "standard deviation of the Rician noise (--noise rician)", outputs::map_if(outputs::has_sigma)},
      {"residual", outputs::real, 1, "signal", "root mean square of signal minus best fit", outputs::map},
      {"NDI_SD", outputs::real, 1, "1", "posterior standard deviation of NDI", outputs::map_if(outputs::is_sampled)},
      {"ODI_SD", outputs::real, 1, "1", "posterior standard deviation of ODI", outputs::map_if(outputs::is_sampled)},
      {"FWF_SD", outputs::real, 1, "1", "posterior standard deviation of FWF, and of tf", outputs::map_if(outputs::is_sampled)},
      {"kappa_SD", outputs::real, 1, "1", "posterior standard deviation of kappa", outputs::map_if(outputs::is_sampled)},
      {"S0_SD", outputs::real, 1, "signal", "posterior standard deviation of S0", outputs::map_if(outputs::is_sampled)},
      {"dot_SD", outputs::real, 1, "1", "posterior standard deviation of dot", outputs::map_if(outputs::has_dot_samples)},
      {"sigma_SD", outputs::real, 1, "signal", "posterior standard deviation of sigma", outputs::map_if(outputs::has_sigma_samples)},
      {"direction_dispersion", outputs::real, 1, "1", "one less the largest eigenvalue of the samples' mean dyadic", outputs::map_if(outputs::is_sampled)},
      {"NDI_samples", outputs::real, 0, "1", "posterior samples of NDI", outputs::rows_if(outputs::is_sampled)},
      {"ODI_samples", outputs::real, 0, "1", "posterior samples of ODI", outputs::rows_if(outputs::is_sampled)},
      {"FWF_samples", outputs::real, 0, "1", "posterior samples of FWF", outputs::rows_if(outputs::is_sampled)},
      {"kappa_samples", outputs::real, 0, "1", "posterior samples of kappa", outputs::rows_if(outputs::is_sampled)},
      {"th_samples", outputs::real, 0, "rad", "posterior samples of the direction's polar angle from z", outputs::rows_if(outputs::is_sampled)},
      {"ph_samples", outputs::real, 0, "rad", "posterior samples of the direction's azimuth from x", outputs::rows_if(outputs::is_sampled)},
      {"acceptance", outputs::real, 0, "1", "fraction of accepted jumps of S0, FWF, NDI, ODI, th, ph, then dot and tau where sampled",
       {.layout = output_layout::volume, .shape = outputs::acceptances, .when = outputs::is_sampled}},
      {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)", outputs::map},
  };
  // clang-format on
};

/// Arrays of a batch's results, in host or device memory; null for what is not wanted.
using result_arrays = output_arrays<noddi_outputs>;

}  // namespace voxherd::noddi
