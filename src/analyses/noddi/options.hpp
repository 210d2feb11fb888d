#pragma once

#include "kernels/noddi/settings.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// NODDI's model, for `voxherd noddi` and `voxherd cudimot`.
struct noddi_model_request {
  double d_par_mm2_per_s = 1.7e-3;
  double d_iso_mm2_per_s = 3.0e-3;
  bool dot = false;
  noddi::noise_model noise = noddi::noise_model::gaussian;
  std::optional<double> sigma;  ///< unit of the signal; none: estimated in each voxel
};

const option_table<noddi_model_request>& noddi_model_options();

struct noddi_sampling_request {
  int samples = 0;
  noddi::dispersion_prior prior = noddi::dispersion_prior::odi;
  int burn_in_jumps = 1000;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;
};

/// `voxherd noddi`.
struct noddi_request {
  dwi_request series;
  noddi_model_request model;
  noddi_sampling_request sampling;
  run_request run;

  noddi::settings settings() const;
};

const option_table<noddi_request>& noddi_options();

/// Collective. Throws failure, the same on every rank.
exit_status run_noddi(session& s, const noddi_request& request);

}  // namespace voxherd
