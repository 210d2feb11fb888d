#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/geodesic/options.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_reader.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

/// Where rays start, and what they may reach.
struct ray_places {
  std::vector<std::uint32_t> regions;       ///< (nz, ny, nx), bits of tensor_field::region
  std::vector<std::int64_t> target_labels;  ///< the label of target number i + 1
  std::vector<geodesic::seed> seeds;        ///< sorted by voxel, slice after slice
  std::vector<std::string> names;           ///< of the matrices' rows; empty without names
  std::optional<mesh_space> meshes;         ///< of the surfaces that were read, if any
  nlohmann::json provenance;                ///< the input files, for run_settings::provenance["inputs"]

  static constexpr auto members() {
    using T = ray_places;
    return std::tuple(&T::regions, &T::target_labels, &T::seeds, &T::names, &T::meshes, &T::provenance);
  }
};

/// Inputs of `voxherd geodesic`; the same on every rank.
struct geodesic_inputs : ray_places {
  image_grid grid;
  tensor_field::tensor_image image;
  std::vector<float> quartics;  ///< (nz, ny, nx, 15), only for --form finsler4
  geodesic::ray_settings rays;  ///< complete: no length is left at 0 for "choose one"
  tensor_field::preparation how;
  fibre_selection selection;
  bool connectome = false;       ///< write matrices between the target labels
  nlohmann::json configuration;  ///< settings that change the result, for run_settings::configuration
};

/// The tensors are fitted by all ranks; the rest is read by rank 0.
/// Collective. Throws failure, the same on every rank.
geodesic_inputs read_geodesic_inputs(const session& s, const geodesic_request& request, const device_chooser& choose);

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
  /// Of the targets, from the table of a surface's labels; may be empty.
  const std::map<std::int32_t, std::string>& names() const { return names_; }
  /// The label of target number i + 1.
  const std::vector<std::int64_t>& target_labels() const { return target_labels_; }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> target_labels_;
  std::map<std::int32_t, std::string> names_;
};

/// Reads the regions in one process; outside white matter, with --within-fa, voxels are not inside. Adds fingerprints
/// to `provenance`. Throws failure (missing_input, bad_data).
region_words read_regions(const region_request& request, const tensor_source& tensors, region_reader& reader,
                          nlohmann::json& provenance);

/// The field that rays run in. Collective; calls use_device(d).
std::unique_ptr<tensor_field::field> prepare_field(const session& s, const geodesic_inputs& inputs, const device& d);

}  // namespace voxherd
