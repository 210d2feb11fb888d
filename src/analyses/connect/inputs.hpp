#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/connect/inputs.hpp"
#include "src/analyses/connect/options.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

/// Where fronts may pass, and the regions that they connect. Voxels are numbered among those that fronts may pass, in
/// the order of the image. A region is the source of one front and a destination of the others.
struct connect_regions {
  std::vector<std::uint8_t> inside;   ///< (nz, ny, nx): 1 where fronts may pass: a tensor, --within, --within-fa
  std::vector<std::uint64_t> voxels;  ///< their linear indices, increasing
  std::vector<std::int32_t> labels;   ///< one per region; 1 and 2 for --from and --to
  connect::region_list regions;       ///< their voxels; a region of a parcellation may have none
  std::vector<std::string> names;     ///< the regions' names from --region-names; empty without
  std::optional<mesh_space> meshes;   ///< of the surfaces that were read, if any
  nlohmann::json provenance;          ///< the input files, for run_settings::provenance["inputs"]

  static constexpr auto members() {
    using T = connect_regions;
    return std::tuple(&T::inside, &T::voxels, &T::labels, &T::regions, &T::names, &T::meshes, &T::provenance);
  }
};

/// Inputs of `voxherd connect`; the same on every rank.
struct connect_inputs : connect_regions {
  image_grid grid;
  tensor_field::tensor_image image;
  connect_settings options;
  kept_signals signals;          ///< only for a bootstrap
  nlohmann::json configuration;  ///< settings that change the result, for run_settings::configuration

  double voxel_mm3() const;
};

/// The tensors are fitted by all ranks; the rest is read by rank 0.
/// Collective. Throws failure, the same on every rank.
connect_inputs read_connect_inputs(const session& s, const connect_request& request, const device_chooser& choose);

/// Fills inside, voxels, labels, regions and names from the files in the options; by one process. `tensors` tells
/// which voxels have a tensor. Adds fingerprints to the provenance. Throws failure (missing_input, bad_data): an
/// invalid file, an end without a voxel where fronts may pass, ends that share voxels, no region with a voxel.
void read_connect_regions(const tensor_source& tensors, connect_inputs& in);

/// The parts of it for callers that choose ends themselves. Where fronts may pass: inside and voxels, first without
/// --within-fa, then with it.
void find_passable_voxels(const tensor_source& tensors, connect_inputs& in);
void leave_out_grey_matter(const tensor_field::tensor_image& image, connect_inputs& in);
/// Makes these voxels of the image the two ends, instead of earlier ones. Throws as above.
void set_ends(const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& to, connect_inputs& in);

}  // namespace voxherd
