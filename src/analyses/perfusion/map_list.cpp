#include "src/analyses/perfusion/map_list.hpp"

#include <fmt/core.h>

#include "core/options.hpp"
#include "src/io/input_file.hpp"

namespace voxherd::perfusion {

bool is_flow(map m) { return std::string_view(fit_outputs::table[m].unit) == flow_unit; }

map_set parse_maps(const std::string& list) {
  map_set chosen;
  if (list == "all") return chosen.set();
  std::string names;
  for (std::size_t m = 0; m < map_count; ++m) names += std::string(m == 0 ? "" : ", ") + fit_outputs::table[m].name;
  for (std::size_t other = map_count; other < chosen.size(); ++other) chosen.set(other);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    std::size_t m = 0;
    while (m < map_count && word != fit_outputs::table[m].name) ++m;
    if (m == map_count)
      option::refuse(fmt::format("--maps {}: found \"{}\", expected all, or some of {}, separated by commas",
                                 printable(list), printable(word), names));
    chosen.set(m);
    at = end + 1;
  }
  return chosen;
}

map_set maps_written(const map_set& chosen, const conversion& convert) {
  map_set written = chosen;
  if (!convert.needs_t1()) written.reset(t1_before);
  if (convert.signal == signal_kind::concentration) written.reset(baseline_signal);
  return written;
}

}  // namespace voxherd::perfusion
