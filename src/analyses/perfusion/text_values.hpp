#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/models.hpp"

/// Lists in words of the command line. All throw failure (usage) with the option, what was found and what is
/// expected.
namespace voxherd::perfusion {

/// Frames [first, last], counted from 0: "3,41-47".
using frame_range = std::pair<std::size_t, std::size_t>;
std::vector<frame_range> parse_frames(const std::string& list, const char* option);

/// "2,10,20".
std::vector<double> parse_numbers(const std::string& list, const char* option);

/// "NAME, NAME (ml/100 g/min), NAME (s)".
std::string list_parameters(const model_info& model);
/// Lists of a model's parameters, as examples: its starts, its last flow and delay at 0, its bounds. Of its maps: two
/// parameters and what is derived last.
std::string example_starts(const model_info& model);
std::string example_values(const model_info& model);
std::string example_ranges(const model_info& model);
std::string example_maps(const model_info& model);

struct parameter_value {
  std::size_t which;            ///< of the model's parameters
  double value = 0, other = 0;  ///< NAME=VALUE, or NAME=VALUE:OTHER
};
/// "NAME=VALUE,NAME=VALUE"; each parameter once.
std::vector<parameter_value> parse_values(const std::string& list, const char* option, const model_info& model);
/// "NAME=MIN:MAX,NAME=MIN:MAX".
std::vector<parameter_value> parse_ranges(const std::string& list, const char* option, const model_info& model);

/// For each output of a model whether it is written: some maps, and all outputs that are not maps.
using map_set = std::vector<bool>;

/// "NAME,NAME" of a model's maps, or "all". Throws failure (usage) with the list of maps.
map_set parse_maps(const std::string& list, const model_info& model);

/// The maps of `chosen` that are meaningful for a conversion: no T1 if none is used, no S0 of concentrations.
map_set maps_written(const map_set& chosen, const conversion& convert, const model_info& model);

}  // namespace voxherd::perfusion
