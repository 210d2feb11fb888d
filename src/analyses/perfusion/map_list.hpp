#pragma once

#include <string>

#include "kernels/perfusion/perfusion.hpp"

namespace voxherd::perfusion {

/// The outputs to write: some maps, and all outputs that are not maps.
using map_set = output_choice<fit_outputs>;

/// "ka,kp,mean_transit_time", or "all". Throws failure (usage) with the list of maps.
map_set parse_maps(const std::string& list);

/// The maps of `chosen` that are meaningful for a conversion: no T1 if none is used, no S0 of concentrations.
map_set maps_written(const map_set& chosen, const conversion& convert);

/// Whether a map is in ml/100 g/min.
bool is_flow(map m);

}  // namespace voxherd::perfusion
