#include "src/show/status_counts.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd {

namespace {

voxel_status_text find_text(std::size_t code) {
  for (const auto& text : voxel_status_texts)
    if (static_cast<std::size_t>(text.status) == code) return text;
  return {static_cast<voxel_status>(code), "unknown code"};
}

}  // namespace

std::string describe_status(std::size_t code, std::uint64_t count, std::uint64_t items) {
  const voxel_status_text text = find_text(code);
  if (text.status == voxel_status::fitted) return fmt::format("{} of {} voxels fitted", count, items);
  if (text.keeps_outputs)
    return fmt::format("{} of {} voxels: {} (status {}); their outputs are kept as fitted", count, items, text.meaning,
                       code);
  return fmt::format("{} of {} voxels not fitted: {} (status {}); their outputs are 0", count, items, text.meaning,
                     code);
}

std::string item_name(const result_reader& result) {
  if (!result.point_offsets().empty()) return "path";
  const auto& outputs = result.outputs();
  const bool has_maps = std::any_of(outputs.begin(), outputs.end(),
                                    [](const output_spec& o) { return o.layout == output_layout::volume; });
  return has_maps ? "voxel" : "row";
}

std::string describe_items(const result_reader& result) {
  const std::string name = item_name(result), items = counted(result.item_voxels().size(), name);
  if (!result.point_offsets().empty()) return items + " with " + counted(result.point_count(), "point");
  if (name != "voxel") return items;
  const constant* const inside = result.find_constant("streamlines", "mask_voxels");
  if (inside != nullptr && inside->values.size() == 1)
    return fmt::format("{} in the mask ({} with their neighbours)",
                       counted(static_cast<std::uint64_t>(inside->values.front()), name), result.item_voxels().size());
  return items + " in the mask";
}

bool has_status_map(const result_reader& result) {
  if (!result.has("status")) return false;
  const output_spec& o = result.output("status");
  return o.layout == output_layout::volume && o.type == element_type::uint8 && o.shape.empty();
}

std::map<std::size_t, std::uint64_t> stored_status_counts(const result_reader& result) {
  std::map<std::size_t, std::uint64_t> counts;
  if (!result.complete() || !result.summary().is_object() || !result.summary().contains("counts")) return counts;
  for (const auto& [code, count] : result.summary().at("counts").items()) {
    std::size_t number = status_counts::codes;
    std::from_chars(code.data(), code.data() + code.size(), number);
    if (number < status_counts::codes && count.is_number_unsigned()) counts[number] = count.get<std::uint64_t>();
  }
  return counts;
}

std::map<std::size_t, std::uint64_t> count_status(const result_reader& result, std::span<const std::uint64_t> voxels) {
  const std::vector<float> status = result.read_map("status", 1);
  std::map<std::size_t, std::uint64_t> counts;
  for (const std::uint64_t v : voxels) ++counts[static_cast<std::size_t>(status[v])];
  return counts;
}

std::size_t output_index(const std::vector<output_spec>& outputs, const std::string& name) {
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const output_spec& o) { return o.name == name; });
  if (found == outputs.end()) throw failure(exit_status::internal_error, fmt::format("there is no output `{}`", name));
  return static_cast<std::size_t>(found - outputs.begin());
}

status_counts::status_counts(const std::vector<output_spec>& outputs) : status_(output_index(outputs, "status")) {
  counts.resize(codes);
}

void status_counts::add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) {
  for (std::uint64_t i = 0; i < item_count; ++i) ++counts[static_cast<std::size_t>(outputs[status_][i])];
}

void status_counts::report(std::uint64_t items) const {
  for (std::size_t code = 1; code < codes; ++code) {
    if (counts[code] > 0) spdlog::warn("{}", describe_status(code, counts[code], items));
  }
  spdlog::info("{}", describe_status(0, counts[0], items));
}

}  // namespace voxherd
