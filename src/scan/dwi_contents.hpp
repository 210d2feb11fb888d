#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/direction_frame.hpp"
#include "src/scan/dwi_request.hpp"
#include "src/scan/gradient_deviation.hpp"

namespace voxherd {

/// The headers of a series's images, with what is to be read from them in the order of the series.
struct dwi_headers {
  nifti_header image, deviation;
};

/// What all ranks know of a series besides its signals.
struct dwi_contents {
  gradient_table gradients;  ///< in FSL's frame
  direction_frame frame = direction_frame::fsl;
  deviation_form form = deviation_form::without_identity;
  std::vector<std::uint64_t> voxels;
  nlohmann::json provenance;

  static constexpr auto members() {
    using T = dwi_contents;
    return std::tuple(&T::gradients, &T::frame, &T::form, &T::voxels, &T::provenance);
  }
};

/// Checks all inputs in one process, except the compressed data themselves, and reads the headers of the images.
/// Fingerprints are taken before a file is read, so that the check at the end of the run finds a file that was replaced
/// in between.
/// Throws failure (missing_input, bad_data, usage).
dwi_contents read_dwi_contents(const dwi_request& request, dwi_headers& headers);

}  // namespace voxherd
