#pragma once

#include "kernels/noddi/settings.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// NODDI's model and its fit, for `voxherd noddi` and the commands with cuDIMOT's options.
struct noddi_model_request {
  double d_par_mm2_per_s = 1.7e-3;
  double d_iso_mm2_per_s = 3.0e-3;
  bool dot = false;
  noddi::noise_model noise = noddi::noise_model::gaussian;
  std::optional<double> sigma;  ///< unit of the signal; none: estimated in each voxel
  int samples = 0;
  int burn_in_jumps = 1000;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;
  noddi::dispersion_prior prior = noddi::dispersion_prior::odi;

  noddi::settings settings() const;
};

const option_table<noddi_model_request>& noddi_model_options();

/// `voxherd noddi`.
struct noddi_request {
  dwi_request series;
  noddi_model_request model;
  run_request run;
};

const option_table<noddi_request>& noddi_options();

/// Collective. Throws failure, the same on every rank.
exit_status run_noddi(session& s, const noddi_request& request);

}  // namespace voxherd
