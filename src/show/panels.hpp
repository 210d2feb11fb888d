#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd::view {

/// What an analysis knows of one voxel besides its maps. For one thread.
class voxel_panel {
 public:
  virtual ~voxel_panel() = default;
  /// `voxel`: linear index in the file. Throws failure if it cannot be found.
  virtual nlohmann::json describe(std::uint64_t voxel) = 0;
};

/// Traces rays of a finished run again. For one thread.
class ray_panel {
 public:
  virtual ~ray_panel() = default;
  /// A block as that of send_rays() (streamlines.hpp), with "seeds", "accepted", "counts" of fibres by verdict, and
  /// "seconds", of every ray of the seeds in a voxel. `voxel`: linear index in the file, and on the page. Rays without
  /// a step are only counted. Throws failure (bad_data): an input no longer exists or has changed, or there are too
  /// many rays.
  virtual std::string trace(std::uint64_t voxel, std::uint32_t voxel_on_page) = 0;
};

/// A block has four bytes with the length of the JSON (little-endian), the JSON filled up to a multiple of four bytes
/// with blanks, then arrays of float32 or uint32: append().
std::string begin_block(const nlohmann::json& head);

template <class T>
void append(std::string& block, const std::vector<T>& values) {
  static_assert(sizeof(T) == 4);
  block.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// JSON for the page; numbers that are not finite become null.
std::string json_for_page(const nlohmann::json& j);

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
