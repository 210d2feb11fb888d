#include "src/analyses/noddi/options.hpp"

namespace voxherd {

using noddi::dispersion_prior;

noddi::settings noddi_request::settings() const {
  noddi::settings s{estimation_request{model.noise, sampling}.settings()};
  s.d_par_mm2_per_s = model.d_par_mm2_per_s;
  s.d_iso_mm2_per_s = model.d_iso_mm2_per_s;
  s.distribution = model.distribution;
  s.dot = model.dot;
  s.prior = prior;
  return s;
}

const option_table<noddi_model_request>& noddi_model_options() {
  using T = noddi_model_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Model", {
      {"model", &T::distribution, {{"watson", noddi::distribution::watson}, {"bingham", noddi::distribution::bingham}},
       {.text = "distribution of directions: around a mean; bingham: also fanning out in a plane", .stored = always}},
      {"d-par", &T::d_par_mm2_per_s, range{1e-4, 4e-3},
       {.text = "diffusivity along neurites; for the cortex 0.0011, for fixed tissue 0.0006", .unit = "mm2/s", .stored = always}},
      {"d-iso", &T::d_iso_mm2_per_s, range{1e-4, 6e-3},
       {.text = "diffusivity of free water; for fixed tissue 0.002", .unit = "mm2/s", .stored = always}},
      {"dot", &T::dot, {.text = "add a signal that diffusion does not attenuate, as in fixed tissue", .stored = always}}})
    .include(&T::noise, noise_options());
  // clang-format on
  return table;
}

const option_table<noddi_request>& noddi_options() {
  using T = noddi_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .include(&T::regions, item_region_options())
    .include(&T::model, noddi_model_options())
    .include(&T::sampling, sampling_options())
    .group("Sampling", {
      {"prior", &T::prior, {{"odi", dispersion_prior::odi}, {"kappa", dispersion_prior::kappa}},
       {.text = "dispersion that is uniform before the data are seen; kappa: as cuDIMOT, half of it (bingham: three quarters) below ODI 0.02", .stored = if_it_applies, .needs = "samples"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

}  // namespace voxherd
