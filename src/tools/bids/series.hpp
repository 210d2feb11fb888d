#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/tools/bids/bids_filter.hpp"

namespace voxherd {

/// A diffusion series of a data set with the files that belong to it; "" for missing ones.
struct dwi_files {
  std::string subject, session;  ///< labels
  std::string folder;            ///< of its derivatives: "sub-01/ses-a/dwi"
  std::string name;              ///< entities of its derivatives: "sub-01_ses-a_run-1_space-ACPC"
  std::string dwi, bval, bvec, mask, grad_dev, parcellation;
  std::string problem;               ///< why it cannot be used; "" for none
  std::string parcellation_problem;  ///< why it has no parcellation; "" if it has one
};

/// Which series are wanted.
struct series_request {
  std::string bids_dir;
  std::vector<std::string> derivatives;         ///< further data sets with masks and parcellations
  std::vector<std::string> subjects, sessions;  ///< labels with or without sub- and ses-; empty: all
  bids_filter filter;
};

/// All series of the data set, sorted by name: raw BIDS, BIDS derivatives (desc-preproc), or folders of the HCP. Throws
/// failure: missing_input, bad_data if there are none or a wanted subject is missing.
std::vector<dwi_files> find_series(const series_request& wanted);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(dwi_files, subject, session, folder, name, dwi, bval, bvec, mask, grad_dev,
                                   parcellation, problem, parcellation_problem)

}  // namespace voxherd
