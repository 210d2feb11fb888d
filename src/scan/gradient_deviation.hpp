#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// A map of what a voxel's gradients are instead of their nominal values g: (I + L) g. HCP and FSL store L in the frame
/// of the bvecs, TORTOISE and with it QSIPrep I + L along the axes of the image; both column by column. (QSIPrep's
/// documents say row by row. TORTOISE's CreateGradientNonlinearityBMatrix, which writes the file, transposes I + L
/// "to HCP format ordering".)
enum class deviation_form { without_identity, with_identity };

constexpr std::uint64_t deviation_volumes = 9;  ///< a 3 x 3 matrix per voxel

/// Which form a map has by its diagonal in these voxels: about 0 or about 1. Throws failure (bad_data) if it is
/// neither.
deviation_form find_deviation_form(const nifti_header& map, const std::vector<std::uint64_t>& voxels);

/// How provenance and pages name the form.
const char* deviation_form_name(deviation_form form);

/// The form of a result's input.
deviation_form stored_deviation_form(const nlohmann::json& input);

/// Changes a voxel's matrix as the map stores it to L in the frame of the series' bvecs. A matrix is along the axes of
/// its own file: if this is stored in another order than the series, rows and columns are exchanged and negated, too.
class deviation_reader {
 public:
  deviation_reader() = default;
  /// `series`: its grid. `order`: in which the map is read.
  deviation_reader(deviation_form form, const image_grid& series, const storage_order& order);

  void operator()(float* matrix) const;

 private:
  bool has_identity_ = false, is_as_stored_ = true;
  std::array<std::uint8_t, 3> axis_{0, 1, 2};  ///< of the map's matrix for each axis of the bvecs
  std::array<float, 3> sign_{1, 1, 1};
};

}  // namespace voxherd
