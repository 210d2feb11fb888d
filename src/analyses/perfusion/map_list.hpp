#pragma once

#include <string>

#include "kernels/perfusion/perfusion.hpp"

namespace voxherd::perfusion {

/// The outputs to be written: some maps, and all outputs that are not maps.
using map_set = output_choice<fit_outputs>;

/// "ka,kp,mean_transit_time", or "all". Throws failure (usage) naming the maps that there are.
map_set parse_maps(const std::string& list);

/// Those of `chosen` that say anything under a conversion: no T1 where none is used, no S0 of concentrations.
map_set maps_written(const map_set& chosen, const conversion& convert);

/// Whether a map is in ml/100 g/min.
bool is_flow(map m);

}  // namespace voxherd::perfusion
