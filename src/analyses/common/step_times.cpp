#include "src/analyses/common/step_times.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

namespace voxherd {

std::vector<std::pair<std::string, double>> step_times(const nlohmann::json& summary) {
  constexpr std::string_view ending = "_seconds", on_device = "_device_seconds";
  std::vector<std::pair<std::string, double>> times;
  if (!summary.is_object()) return times;
  for (const auto& [name, value] : summary.items())
    if (name.ends_with(ending) && !name.ends_with(on_device) && value.is_number())
      times.emplace_back(name.substr(0, name.size() - ending.size()), value.get<double>());
  if (!times.empty()) times.emplace_back("result", summary.value("seconds", 0.0));
  return times;
}

}  // namespace voxherd
