#include "src/analyses/perfusion/medians.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "src/analyses/perfusion/model_forms.hpp"

namespace voxherd {

namespace {

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

/// The number of an output among those that are written.
std::size_t written_place(const perfusion::map_set& written, std::size_t place) {
  return static_cast<std::size_t>(
      std::count(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(place), true));
}

}  // namespace

median_collector::median_collector(const perfusion::model_info& model, const perfusion::map_set& written,
                                   std::uint64_t items)
    : status_(written_place(written, perfusion::output_place(model, "status"))),
      every_(std::max<std::uint64_t>(1, (items + max_for_quartiles - 1) / max_for_quartiles)) {
  std::vector<std::string> names = perfusion::shown_outputs(model).summary;
  names.emplace_back("r_squared");
  for (std::size_t n = 0; n < names.size(); ++n) {
    const std::size_t place = perfusion::output_place(model, names[n]);
    const std::string unit = model.outputs[place].unit;
    const bool unit_follows =
        n + 1 < names.size() && unit == model.outputs[perfusion::output_place(model, names[n + 1])].unit;
    if (written[place])
      maps_.push_back({names[n], unit_follows || unit == "1" ? "" : " " + unit, written_place(written, place)});
  }
}

void median_collector::add(const batch& voxels, std::span<const std::span<const std::byte>> outputs) {
  for (std::uint64_t i = 0; i < voxels.item_count; ++i) {
    if (outputs[status_][i] != std::byte{0}) continue;
    ++fitted_;
    if ((voxels.first_item + i) % every_ != 0) continue;
    for (summed_map& m : maps_) m.values.push_back(reinterpret_cast<const float*>(outputs[m.place].data())[i]);
  }
}

void median_collector::log(const session& s) {
  const std::uint64_t fitted = s.all_reduce(reduction::sum, fitted_);
  std::size_t some = 0;
  std::string text;
  for (const summed_map& m : maps_) {
    const std::vector<float> values = s.gather_to_root(m.values);
    if (values.empty()) continue;
    some = values.size();
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", m.name, spread(values), m.unit);
  }
  if (!text.empty())
    spdlog::info("medians (quartiles) of {}{} voxels: {}", some < fitted ? fmt::format("{} of ", some) : "", fitted,
                 text);
}

}  // namespace voxherd
