#include "src/analyses/perfusion/counts.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <iterator>

namespace voxherd {

namespace {

std::string percent(std::uint64_t part, std::uint64_t all) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// After the 256 status codes: exit codes, voxels with any bit of `at_bound`, and with each.
constexpr std::size_t exits = status_counts::codes, exit_codes = 256, any_bound = exits + exit_codes,
                      each_bound = any_bound + 1;

}  // namespace

perfusion_counts::perfusion_counts(const std::vector<output_spec>& outputs, const perfusion::model_info& model)
    : status_counts(outputs),
      model_(model),
      status_(output_index(outputs, "status")),
      exit_code_(output_index(outputs, "exit_code")),
      at_bound_(output_index(outputs, "at_bound")) {
  counts.resize(each_bound + model.parameters.size());
}

void perfusion_counts::add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) {
  status_counts::add(item_count, outputs);
  for (std::uint64_t i = 0; i < item_count; ++i) {
    if (outputs[status_][i] != std::byte{0}) continue;
    const auto bits = static_cast<unsigned>(outputs[at_bound_][i]);
    ++counts[exits + static_cast<std::size_t>(outputs[exit_code_][i])];
    counts[any_bound] += bits != 0 ? 1 : 0;
    for (std::size_t p = 0; p < model_.parameters.size(); ++p) counts[each_bound + p] += bits >> p & 1;
  }
}

void perfusion_counts::report(std::uint64_t items) const {
  status_counts::report(items);
  const std::uint64_t fitted = counts[0];
  if (counts[any_bound] > 0) {
    std::string each;
    for (std::size_t i = 0; i < model_.parameters.size(); ++i)
      if (const std::uint64_t count = counts[each_bound + i]; count > 0)
        each += fmt::format("; {} {}", model_.parameters[i].name, percent(count, fitted));
    const std::string text =
        fmt::format("at a bound: {} of the fitted voxels{}", percent(counts[any_bound], fitted), each);
    if (2 * counts[any_bound] > fitted) {
      spdlog::warn("{}; are times, signal and input curves right? --bounds changes bounds", text);
    } else {
      spdlog::info("{}", text);
    }
  }
  constexpr const char* meanings[] = {"converged", "reached the largest number of iterations",
                                      "found no further descent"};
  for (std::size_t code = 1; code < std::size(meanings); ++code) {
    if (counts[exits + code] > 0)
      spdlog::info("{} of the fitted voxels {}", percent(counts[exits + code], fitted), meanings[code]);
  }
}

}  // namespace voxherd
