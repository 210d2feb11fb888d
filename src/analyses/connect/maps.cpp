#include "src/analyses/connect/maps.hpp"

#include <nlohmann/json.hpp>

namespace voxherd {

namespace {

class copying_runner final : public batch_runner {
 public:
  explicit copying_runner(const findings& found) : found_(found) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    for (std::size_t i = 0; i < found_.maps.size(); ++i) {
      const voxel_map& m = found_.maps[i];
      const std::size_t bytes = m.spec.bytes_per_item();
      std::memcpy(outputs[i].data(), m.values.data() + items.first_item * bytes, items.item_count * bytes);
    }
  }

 private:
  const findings& found_;
};

}  // namespace

void findings::share(const session& s) {
  // Values travel as they are: JSON has no infinity.
  nlohmann::json all{{"maps", nlohmann::json::array()}, {"constants", nlohmann::json::array()}};
  for (const voxel_map& m : maps)
    all["maps"].push_back({m.spec.name, static_cast<int>(m.spec.type), m.spec.unit, m.spec.meaning});
  for (const constant& c : constants) all["constants"].push_back({c.name, c.shape, c.unit, c.meaning, c.group});
  std::string text = all.dump();
  s.broadcast(text);
  if (!s.is_root()) {
    all = nlohmann::json::parse(text);
    for (const auto& m : all["maps"])
      maps.push_back({{m[0], static_cast<element_type>(m[1].get<int>()), {}, output_layout::volume, m[2], m[3]}, {}});
    for (const auto& c : all["constants"]) constants.push_back({c[0], c[1], {}, c[2], c[3], c[4]});
  }
  for (voxel_map& m : maps) s.broadcast(m.values);
  for (constant& c : constants) s.broadcast(c.values);
}

std::vector<output_spec> connect_maps::outputs() const {
  std::vector<output_spec> all;
  for (const voxel_map& m : found_.maps) all.push_back(m.spec);
  return all;
}

std::unique_ptr<batch_runner> connect_maps::make_runner() const { return std::make_unique<copying_runner>(found_); }

}  // namespace voxherd
