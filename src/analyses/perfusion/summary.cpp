#include "src/analyses/perfusion/summary.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

#include "kernels/portable/output_rows.hpp"
#include "src/analyses/perfusion/text_values.hpp"

namespace voxherd {

namespace {

struct summed_map {
  std::size_t place;  ///< in the table of outputs
  const char* unit;

  const char* name() const { return perfusion::fit_outputs::table[place].name; }
};

template <output_name Name>
constexpr std::size_t place() {
  return perfusion::outputs::place<Name>();
}

constexpr summed_map summed_up[] = {{place<"ka">(), ""},
                                    {place<"kp">(), ""},
                                    {place<"kl">(), " ml/100g/min"},
                                    {place<"arterial_fraction">(), ""},
                                    {place<"distribution_volume">(), ""},
                                    {place<"mean_transit_time">(), " s"},
                                    {place<"r_squared">(), ""}};

/// Sufficient for three digits of a median.
constexpr std::uint64_t max_for_quartiles = 1 << 16;

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

median_collector::median_collector(const perfusion::map_set& written, std::uint64_t items)
    : written_(written), every_(std::max<std::uint64_t>(1, (items + max_for_quartiles - 1) / max_for_quartiles)) {}

void median_collector::add(const batch& voxels, std::span<const std::span<const std::byte>> outputs) {
  const output_rows<perfusion::fit_outputs> rows(outputs, written_);
  const std::span<const std::uint8_t> status = rows.values<"status">();
  for (std::uint64_t i = 0; i < voxels.item_count; ++i) {
    if (status[i] != 0) continue;
    ++fitted_;
    if ((voxels.first_item + i) % every_ != 0) continue;
    for (std::size_t m = 0; m < std::size(summed_up); ++m)
      if (const float* const map = rows.floats(summed_up[m].place)) values_[m].push_back(map[i]);
  }
}

void median_collector::log(const session& s) {
  const std::uint64_t fitted = s.all_reduce(reduction::sum, fitted_);
  std::size_t some = 0;
  std::string text;
  for (std::size_t m = 0; m < std::size(summed_up); ++m) {
    const std::vector<float> values = s.gather_to_root(values_[m]);
    if (values.empty()) continue;
    some = values.size();
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", summed_up[m].name(), spread(values), summed_up[m].unit);
  }
  if (!text.empty())
    spdlog::info("medians (quartiles) of {}{} voxels: {}", some < fitted ? fmt::format("{} of ", some) : "", fitted,
                 text);
}

}  // namespace voxherd
