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

/// Sufficient for three digits of a median.
constexpr std::size_t max_for_quartiles = 1 << 16;

std::vector<std::uint64_t> thinned(const std::vector<std::uint64_t>& voxels) {
  const std::size_t step = (voxels.size() + max_for_quartiles - 1) / max_for_quartiles;
  std::vector<std::uint64_t> some;
  for (std::size_t i = 0; i < voxels.size(); i += step) some.push_back(voxels[i]);
  return some;
}

/// Median and quartiles: each quartile is the middle of a half on one side of the median.
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

std::string percent(std::uint64_t part, std::uint64_t all) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// After the 256 status codes: exit codes, voxels with any bit of `at_bound`, and with each.
constexpr std::size_t exits = status_counts::codes, exit_codes = 256, any_bound = exits + exit_codes,
                      each_bound = any_bound + 1;

}  // namespace

perfusion_counts::perfusion_counts(const std::vector<output_spec>& outputs)
    : status_counts(outputs),
      status_(output_index(outputs, "status")),
      exit_code_(output_index(outputs, "exit_code")),
      at_bound_(output_index(outputs, "at_bound")) {
  counts.resize(each_bound + perfusion::parameter_count);
}

void perfusion_counts::add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) {
  status_counts::add(item_count, outputs);
  for (std::uint64_t i = 0; i < item_count; ++i) {
    if (outputs[status_][i] != std::byte{0}) continue;
    const auto bits = static_cast<unsigned>(outputs[at_bound_][i]);
    ++counts[exits + static_cast<std::size_t>(outputs[exit_code_][i])];
    counts[any_bound] += bits != 0 ? 1 : 0;
    for (unsigned p = 0; p < perfusion::parameter_count; ++p) counts[each_bound + p] += bits >> p & 1;
  }
}

void perfusion_counts::report(std::uint64_t items) const {
  status_counts::report(items);
  const std::uint64_t fitted = counts[0];
  if (counts[any_bound] > 0) {
    std::string each;
    for (int i = 0; i < perfusion::parameter_count; ++i) {
      const std::uint64_t count = counts[each_bound + static_cast<std::size_t>(i)];
      if (count > 0)
        each += fmt::format("; {} {}", perfusion::parameter_name(static_cast<perfusion::parameter>(i)),
                            percent(count, fitted));
    }
    const std::string text =
        fmt::format("at a bound: {} of the fitted voxels{}", percent(counts[any_bound], fitted), each);
    if (2 * counts[any_bound] > fitted) {
      spdlog::warn("{}; are times, signal and input curves right? --bounds changes bounds", text);
    } else {
      spdlog::info("{}", text);
    }
  }
  constexpr const char* meanings[] = {"converged", "reached the largest number of iterations",
                                      "found no further descent", "had equations without a solution"};
  for (std::size_t code = 1; code < std::size(meanings); ++code) {
    if (counts[exits + code] > 0)
      spdlog::info("{} of the fitted voxels {}", percent(counts[exits + code], fitted), meanings[code]);
  }
}

void log_medians(const session& s, const std::string& result) {
  s.on_root([&] {
    const result_reader reader(result, tables::walked_or_own);
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
  });
}

}  // namespace voxherd
