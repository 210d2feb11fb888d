#pragma once

#include <optional>

#include "core/options.hpp"
#include "kernels/voxel_model/settings.hpp"

namespace voxherd {

struct noise_request {
  voxel_model::noise_model noise = voxel_model::noise_model::gaussian;
  std::optional<double> sigma;  ///< unit of the signal; none: estimated in each voxel
};

struct sampling_request {
  int samples = 0;
  int burn_in_jumps = 1000;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;
};

/// How a model is fitted.
struct estimation_request {
  noise_request noise;
  sampling_request sampling;

  voxel_model::settings settings() const;
};

const option_table<noise_request>& noise_options();
const option_table<sampling_request>& sampling_options();
const option_table<estimation_request>& estimation_options();

}  // namespace voxherd
