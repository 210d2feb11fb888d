#pragma once

#include <nlohmann/json.hpp>

#include "core/command.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/gradients.hpp"

namespace voxherd {

/// --fibres, --model, --noise, --burn-in, --jumps, --sample-every, --adapt-every, --seed, --ard-weight, --no-ard,
/// --all-ard, --f0, --f0-ard,
/// --ratio-mean, --ratio-std, --all-samples
void add_ballstick_options(po::options_description& options);

/// Throws failure(usage) naming option, value and range.
ballstick::settings read_ballstick_settings(const arguments& args);

/// Throws failure(bad_data) where the series cannot determine the model.
void check_measurements(const ballstick::settings& settings, const gradient_table& gradients, const arguments& args);

/// What changes the result, under the options' names.
void add_to_configuration(const ballstick::settings& settings, const arguments& args, nlohmann::json& configuration);

/// The whole of `voxherd ballstick`, for it and for `voxherd bedpostx`.
exit_status run_ballstick(session& s, const arguments& args);

}  // namespace voxherd
