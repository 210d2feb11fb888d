#include "src/analyses/perfusion/t1_map.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

void check_t1_map(const nifti_header& map, double unit_s, const std::vector<std::uint64_t>& mask) {
  const std::vector<float> values = read_volume(map);
  std::vector<double> t1_s;
  for (const std::uint64_t voxel : mask) {
    const double value = static_cast<double>(values[voxel]) * unit_s;
    if (std::isfinite(value) && value > 0) t1_s.push_back(value);
  }
  const std::string name = printable(map.path);
  if (t1_s.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: T1 is above 0 in none of the mask's {} voxels, expected a map of T1 in s or ms",
                              name, mask.size()));
  const auto middle = t1_s.begin() + static_cast<std::ptrdiff_t>(t1_s.size() / 2);
  std::nth_element(t1_s.begin(), middle, t1_s.end());
  if (*middle < 0.01 || *middle > 10)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: the mask's median T1 is {:.4g} s, expected 0.01 to 10 s; {}", name, *middle,
                              unit_s == 1 ? "if the map is in ms, give --t1-map-unit ms" : "is the map in s?"));
  if (t1_s.size() < mask.size())
    spdlog::warn("{}: {} of the mask's {} voxels have no T1 above 0; they cannot be fitted", name,
                 mask.size() - t1_s.size(), mask.size());
}

}  // namespace voxherd
