#pragma once

#include <string>
#include <vector>

#include "core/run_request.hpp"
#include "mpi/comm/session.hpp"
#include "src/export/export_plan.hpp"
#include "src/io/nifti/nifti_writer.hpp"

namespace voxherd {

/// The type of images that the environment variable FSLOUTPUTTYPE names: NIFTI_GZ, also without the variable, NIFTI,
/// NIFTI2_GZ or NIFTI2. Throws failure (usage) for another type of FSL.
image_type fsl_output_type();

/// Whether a program of FSL goes on with its images after its result: not after a dry run. A program that is asked
/// whether its folder is complete goes on, too, and is answered by the files that exist.
bool goes_on_with_images(exit_status of_result, const run_request& run);

/// The folder of a program of FSL. What was created and is still empty at the end, after a dry run or an error, is
/// removed.
class output_folder {
 public:
  output_folder() = default;
  ~output_folder();
  output_folder(const output_folder&) = delete;
  output_folder& operator=(const output_folder&) = delete;

  /// Creates the folder and those above it; returns whether it did not exist. Throws failure (disk).
  bool create(const std::string& folder);

 private:
  std::vector<std::string> created_;  ///< from the outermost to the innermost
};

/// How a program of FSL writes images of a new result into a folder: those that are there are replaced.
export_settings make_fsl_settings(const session& s, const std::string& result, const std::string& folder,
                                  const run_request& run);

}  // namespace voxherd
