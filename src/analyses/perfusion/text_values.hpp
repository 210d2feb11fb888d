#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernels/perfusion/perfusion.hpp"
#include "kernels/perfusion/settings.hpp"

/// Lists in words of the command line. All throw failure (usage) with the option, what was found and what is
/// expected.
namespace voxherd::perfusion {

/// "kl", "ka", "kp", "tau_a", "tau_p": the names in options, outputs and log.
const char* parameter_name(parameter p);
/// "ml/100g/min" or "s".
const char* unit_of(parameter p);

/// Frames [first, last], counted from 0: "3,41-47".
using frame_range = std::pair<std::size_t, std::size_t>;
std::vector<frame_range> parse_frames(const std::string& list, const char* option);

/// "2,10,20".
std::vector<double> parse_numbers(const std::string& list, const char* option);

struct parameter_value {
  parameter which;
  double value = 0, other = 0;  ///< NAME=VALUE, or NAME=VALUE:OTHER
};
/// "tau_p=0,kp=0"; each parameter once.
std::vector<parameter_value> parse_values(const std::string& list, const char* option);
/// "tau_a=0:8,kl=1:2000".
std::vector<parameter_value> parse_ranges(const std::string& list, const char* option);

/// The outputs to write: some maps, and all outputs that are not maps.
using map_set = output_choice<fit_outputs>;

/// "ka,kp,mean_transit_time", or "all". Throws failure (usage) with the list of maps.
map_set parse_maps(const std::string& list);

/// The maps of `chosen` that are meaningful for a conversion: no T1 if none is used, no S0 of concentrations.
map_set maps_written(const map_set& chosen, const conversion& convert);

/// Whether a map is in ml/100 g/min.
bool is_flow(map m);

}  // namespace voxherd::perfusion
