#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_request.hpp"
#include "mpi/comm/session.hpp"
#include "src/fsl/fsl_words.hpp"

namespace voxherd {

/// The options of FSL's xfibres that choose the model and the chain, which bedpostx passes on, and `more`.
std::vector<fsl_option> with_model_options(std::span<const fsl_option> more);

/// The same with the files of xfibres and of bedpostx_postproc_gpu.sh; `forcedir`: what becomes of --forcedir.
std::vector<fsl_option> xfibres_options_of_fsl(fsl_answer forcedir, std::string_view ours);

/// fsl_program::expected of these options.
std::string expected_number(const std::string& value, std::string_view ours);

/// A folder that bedpostx makes.
struct bedpostx_folder {
  std::string path;
  std::string nodif;        ///< a b=0 image to mask and add; "" for none
  bool has_inputs = false;  ///< it contains the mask, bvals and bvecs already
};

/// Writes FSL's files from `path`/voxherd.h5. Collective. Throws failure.
void write_bedpostx_folder(session& s, const bedpostx_folder& folder, const run_request& run);

}  // namespace voxherd
