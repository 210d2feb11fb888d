#pragma once

#include "kernels/noddi/settings.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/model_options.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// NODDI's model, for `voxherd noddi` and `voxherd cudimot`.
struct noddi_model_request {
  noddi::distribution distribution = noddi::distribution::watson;
  double d_par_mm2_per_s = 1.7e-3;
  double d_iso_mm2_per_s = 3.0e-3;
  bool dot = false;
  noise_request noise;
};

const option_table<noddi_model_request>& noddi_model_options();

/// `voxherd noddi`.
struct noddi_request {
  dwi_request series;
  item_region_request regions;
  noddi_model_request model;
  sampling_request sampling;
  noddi::dispersion_prior prior = noddi::dispersion_prior::odi;
  run_request run;

  noddi::settings settings() const;
};

const option_table<noddi_request>& noddi_options();

/// Collective. Throws failure, the same on every rank.
exit_status run_noddi(session& s, const noddi_request& request);

}  // namespace voxherd
