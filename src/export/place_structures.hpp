#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/export/matrix_places.hpp"
#include "src/io/cifti/cifti.hpp"

namespace voxherd {

/// A vertex of a surface or a voxel, among all greyordinates.
struct grey_place {
  std::string structure;  ///< of a surface; "" for voxels, which have one grid
  std::uint64_t place = 0;
  auto operator<=>(const grey_place&) const = default;
};

/// The structure of each place of a matrix.
class structure_finder {
 public:
  /// `given`: see make_models(). Throws failure (usage, bad_data).
  structure_finder(const matrix_places& places, const std::vector<std::string>& given);
  std::string find(std::size_t i) const;

 private:
  void read_labels_of(std::size_t f);

  const matrix_places& places_;
  std::vector<std::string> of_file_;
  std::vector<std::vector<float>> labels_;  ///< of each file, by voxel; empty if it has none
};

/// Throws failure (bad_data) unless surfaces of this structure have this number of vertices. `path`: what expects it.
void check_vertices(const matrix_places& places, const structure_finder& structures, const brain_part& part,
                    const std::string& path);

/// Finds the places in `positions`, voxels through their world coordinates.
std::vector<std::uint32_t> find_positions(const matrix_places& places, const structure_finder& structures,
                                          const std::map<grey_place, std::uint32_t>& positions,
                                          const std::optional<image_grid>& grid);

/// Logs how many places have no position. Throws failure (bad_data) if none has one. `what`: "greyordinates".
void report_outside(const std::vector<std::uint32_t>& positions, const std::string& path, const char* what);

}  // namespace voxherd
