#include "src/show/panels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::view {

namespace {

constexpr auto status_name = "status";

/// Whether the run has computed an item: a result that is not complete has zeros elsewhere.
bool is_finished(const result_reader& r, std::uint64_t item) {
  if (r.complete()) return true;
  for (std::size_t b = 0; b < r.batches().size() && b < r.journal().size(); ++b) {
    const batch& items = r.batches()[b];
    if (item >= items.first_item && item < items.first_item + items.item_count) return r.journal()[b].done == 1;
  }
  return false;
}

}  // namespace

std::string json_for_page(const nlohmann::json& j) { return dump_json(j); }

std::string begin_block(const nlohmann::json& head) {
  std::string text = json_for_page(head);
  text.append((4 - text.size() % 4) % 4, ' ');
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string block(reinterpret_cast<const char*>(&length), sizeof length);
  return block + text;
}

item_maps::item_maps(const result_reader& r) : result_(r) {
  for (const output_spec& o : r.outputs()) {
    if (o.layout != output_layout::volume) continue;
    const std::size_t components = o.bytes_per_item() / element_bytes(o.type);
    const std::vector<float> map = r.read_map(o.name);
    kept_map kept{o, components, {}};
    for (const std::uint64_t v : r.item_voxels())
      for (std::size_t c = 0; c < components; ++c) kept.values.push_back(map[v * components + c]);
    maps_.push_back(std::move(kept));
  }
}

std::optional<std::uint64_t> item_maps::find_item(std::uint64_t voxel) const {
  const auto& voxels = result_.item_voxels();
  const auto place = std::lower_bound(voxels.begin(), voxels.end(), voxel);
  if (place == voxels.end() || *place != voxel) return std::nullopt;
  return static_cast<std::uint64_t>(place - voxels.begin());
}

bool item_maps::is_fitted(std::uint64_t voxel) const {
  const auto item = find_item(voxel);
  return item && is_finished(result_, *item) &&
         at(status_name, *item).front() == static_cast<float>(voxel_status::fitted);
}

std::string item_maps::status_text(std::uint64_t voxel) const {
  const auto item = find_item(voxel);
  if (!item) return "outside the mask";
  if (!is_finished(result_, *item)) return "not computed yet";
  const auto code = static_cast<unsigned>(at(status_name, *item).front());
  for (const voxel_status_text& t : voxel_status_texts)
    if (static_cast<unsigned>(t.status) == code) return std::string(t.meaning);
  return fmt::format("status {}", code);
}

const item_maps::kept_map* item_maps::find(const std::string& name) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const kept_map& m) { return m.spec.name == name; });
  return found == maps_.end() ? nullptr : &*found;
}

std::span<const float> item_maps::at(const std::string& name, std::uint64_t item) const {
  const kept_map* m = find(name);
  if (m == nullptr) refuse_data("{}: has no map {}", result_.path(), name);
  return std::span(m->values).subspan(item * m->components, m->components);
}

nlohmann::json item_maps::describe(std::uint64_t voxel) const {
  nlohmann::json list = nlohmann::json::array();
  const auto item = find_item(voxel);
  for (const kept_map& m : maps_)
    if (item && m.components == 1 && m.spec.name != status_name)
      list.push_back(
          {{"name", m.spec.name}, {"value", m.values[*item]}, {"unit", m.spec.unit}, {"meaning", m.spec.meaning}});
  return list;
}

}  // namespace voxherd::view
