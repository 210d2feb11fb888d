#pragma once

#include <cstdint>
#include <optional>

#include "kernels/ballstick/settings.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// The ball & stick model and its sampling, for `voxherd ballstick` and `voxherd bedpostx`.
struct ballstick_model_request {
  int fibres = 3;
  int model = 2;
  ballstick::noise_model noise = ballstick::noise_model::gaussian;
  int burn_in_jumps = 1000;
  int sampled_jumps = 1250;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;
  double relevance_weight = 1;
  bool no_relevance = false;
  bool all_relevance = false;
  bool unattenuated = false;
  bool unattenuated_relevance = false;
  std::optional<double> gain_per_fibre;  ///< none: the relevance prior decides how many fibres there are
  double ratio_mean = 0.13;
  double ratio_std = 0.03;
  bool all_samples = false;

  ballstick::settings settings() const;
};

const option_table<ballstick_model_request>& ballstick_model_options();

/// `voxherd ballstick`.
struct ballstick_request {
  dwi_request series;
  item_region_request regions;
  ballstick_model_request model;
  run_request run;
};

const option_table<ballstick_request>& ballstick_options();

/// The inputs of the request, as its result stores them. Collective.
nlohmann::json ballstick_inputs(const session& s, const ballstick_request& request);

/// Collective. Throws failure, the same on every rank.
exit_status run_ballstick(session& s, const ballstick_request& request);

}  // namespace voxherd
