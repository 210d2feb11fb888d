#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd::view {

/// The maps of a voxelwise result at its items, read once: a page asks for one voxel after the other.
class item_maps {
 public:
  /// `r` must outlive this.
  explicit item_maps(const result_reader& r);

  /// Nothing for a voxel outside the mask.
  std::optional<std::uint64_t> find_item(std::uint64_t voxel) const;
  bool is_fitted(std::uint64_t voxel) const;
  /// "fitted", "outside the mask", "fit diverged", ...
  std::string status_text(std::uint64_t voxel) const;

  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// Components of a map at an item. Throws failure (bad_data) if there is no such map.
  std::span<const float> at(const std::string& name, std::uint64_t item) const;
  /// Name, value, unit and meaning of each map with one number per voxel.
  nlohmann::json describe(std::uint64_t voxel) const;

 private:
  struct kept_map {
    output_spec spec;
    std::size_t components;
    std::vector<float> values;
  };
  const kept_map* find(const std::string& name) const;

  const result_reader& result_;
  std::vector<kept_map> maps_;
};

}  // namespace voxherd::view
