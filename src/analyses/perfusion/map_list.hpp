#pragma once

#include <array>
#include <bitset>
#include <string>

#include "kernels/perfusion/perfusion.hpp"

namespace voxherd::perfusion {

struct map_text {
  map id;
  const char *name, *unit, *meaning;  ///< "" for sum_of_squares, whose unit follows from the conversion
};

/// In the order of `map`.
extern const std::array<map_text, map_count> map_texts;

using map_set = std::bitset<map_count>;

/// "ka,kp,mean_transit_time", or "all". Throws failure (usage) naming the maps that there are.
map_set parse_maps(const std::string& list);

/// Those of `chosen` that say anything under a conversion: no T1 where none is used, no S0 of concentrations.
map_set maps_written(const map_set& chosen, const conversion& convert);

/// Whether a map is in ml/100 g/min.
bool is_flow(map m);

}  // namespace voxherd::perfusion
