#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "src/analyses/geodesic/options.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

/// What a ray needs to know about each voxel: the bits of kernels/tensor_field/field.hpp's namespace region.
/// Only `inside` tells where tensors are: the other bits are set wherever their images are set, so that a cortical
/// label beyond a white-matter mask can still be reached by the step that leaves the mask.
class region_words {
 public:
  explicit region_words(const std::vector<std::uint8_t>& inside);

  void exclude(std::span<const std::uint64_t> voxels);
  void include(int number, std::span<const std::uint64_t> voxels);  ///< number: 0 to 13
  /// Numbers the selected labels (empty: all in the file) 1, 2, ... in increasing order and writes the numbers.
  /// Throws failure (bad_data): too many labels.
  void targets(const label_image& image, const std::vector<std::int32_t>& wanted);

  const std::vector<std::uint32_t>& words() const { return words_; }  ///< (nz, ny, nx)
  /// The label of target number i + 1.
  const std::vector<std::int64_t>& target_labels() const { return target_labels_; }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> target_labels_;
};

/// By one process. Adds fingerprints to `provenance`. Throws failure (missing_input, bad_data).
region_words read_regions(const region_request& request, const tensor_source& tensors, nlohmann::json& provenance);

}  // namespace voxherd
