#pragma once

#include <algorithm>
#include <vector>

#include "kernels/perfusion/settings.hpp"

namespace voxherd::perfusion {

/// The starts of every voxel's fits, [start][parameter] in the units of kernels: those that the model lists, within
/// bounds, if `starts` is above 0; where it lists none, or no more, the rules' start.
template <class Tissue>
std::vector<double> list_starts(const fit_settings& s) {
  constexpr auto count = static_cast<std::size_t>(parameter_count<Tissue>);
  std::vector<double> all;
  for (int start = 0; start < std::max(1, s.starts); ++start)
    for (const parameter_rule& rule : s.rules) all.push_back(rule.start);
  if constexpr (requires { Tissue::starts; }) {
    for (std::size_t n = 0; n < std::min(static_cast<std::size_t>(s.starts), std::size(Tissue::starts)); ++n)
      for (std::size_t i = 0; i < count; ++i) {
        const parameter_rule& rule = s.rules[i];
        const double listed = Tissue::starts[n][i] / Tissue::parameters[i].unit().factor;
        if (!rule.fixed) all[n * count + i] = s.bounded ? std::clamp(listed, rule.least, rule.most) : listed;
      }
  }
  return all;
}

}  // namespace voxherd::perfusion
