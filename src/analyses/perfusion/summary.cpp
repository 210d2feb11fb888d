#include "src/analyses/perfusion/summary.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/perfusion/text_values.hpp"

namespace voxherd {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 7> summed_up{{{"ka", ""},
                                                                        {"kp", ""},
                                                                        {"kl", " ml/100g/min"},
                                                                        {"arterial_fraction", ""},
                                                                        {"distribution_volume", ""},
                                                                        {"mean_transit_time", " s"},
                                                                        {"r_squared", ""}}};

/// Values of a map at the fitted voxels.
std::vector<float> fitted_values(const result_reader& result, const std::vector<std::uint64_t>& voxels,
                                 const std::string& name) {
  const std::vector<float> map = result.read_map(name);
  std::vector<float> values;
  values.reserve(voxels.size());
  for (const std::uint64_t voxel : voxels) values.push_back(map[voxel]);
  return values;
}

/// Enough for a median's three digits.
constexpr std::size_t most_for_quartiles = 1 << 16;

std::vector<std::uint64_t> thinned(const std::vector<std::uint64_t>& voxels) {
  const std::size_t step = (voxels.size() + most_for_quartiles - 1) / most_for_quartiles;
  std::vector<std::uint64_t> some;
  for (std::size_t i = 0; i < voxels.size(); i += step) some.push_back(voxels[i]);
  return some;
}

/// Median and quartiles: the quartiles lie in the halves that the median leaves.
std::string spread(std::vector<float> values) {
  const auto place = [&](std::size_t quarter) {
    return values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * quarter / 4);
  };
  const auto first = place(1), middle = place(2), third = place(3);
  std::nth_element(values.begin(), middle, values.end());
  const float median = *middle;
  std::nth_element(values.begin(), first, middle);
  std::nth_element(middle, third, values.end());
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", median, *first, *third);
}

std::string percent(std::size_t part, std::size_t all) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

void log_bounds(const std::vector<float>& at_bound) {
  std::string each;
  std::size_t any = 0;
  for (const float bits : at_bound) any += bits != 0 ? 1 : 0;
  if (any == 0) return;
  for (int i = 0; i < perfusion::parameter_count; ++i) {
    const auto count = static_cast<std::size_t>(std::count_if(
        at_bound.begin(), at_bound.end(), [i](float bits) { return (static_cast<unsigned>(bits) >> i & 1) != 0; }));
    if (count > 0)
      each += fmt::format("; {} {}", perfusion::name_of(static_cast<perfusion::parameter>(i)),
                          percent(count, at_bound.size()));
  }
  spdlog::info("at a bound: {} of the fitted voxels{}", percent(any, at_bound.size()), each);
}

void log_exits(const std::vector<float>& codes) {
  constexpr const char* meanings[] = {"converged", "had the most iterations", "found no further descent",
                                      "had equations without a solution"};
  for (std::size_t code = 1; code < std::size(meanings); ++code) {
    const auto count = static_cast<std::size_t>(std::count(codes.begin(), codes.end(), static_cast<float>(code)));
    if (count > 0) spdlog::info("{} of the fitted voxels {}", percent(count, codes.size()), meanings[code]);
  }
}

}  // namespace

void log_perfusion_summary(const session& s, const std::string& result) {
  s.on_root([&] {
    const result_reader reader(result);
    const std::vector<float> status = reader.read_map("status");
    std::vector<std::uint64_t> voxels;
    for (const std::uint64_t voxel : reader.item_voxels())
      if (status[voxel] == 0) voxels.push_back(voxel);
    if (voxels.empty()) return;
    const std::vector<std::uint64_t> some = thinned(voxels);
    std::string text;
    for (const auto& [name, unit] : summed_up) {
      if (!reader.has(name)) continue;
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, spread(fitted_values(reader, some, name)), unit);
    }
    if (!text.empty())
      spdlog::info("medians (quartiles) of {}{} voxels: {}",
                   some.size() < voxels.size() ? fmt::format("{} of ", some.size()) : "", voxels.size(), text);
    log_bounds(fitted_values(reader, voxels, "at_bound"));
    log_exits(fitted_values(reader, voxels, "exit_code"));
  });
}

}  // namespace voxherd
