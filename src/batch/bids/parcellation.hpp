#pragma once

#include <string>
#include <vector>

#include "src/batch/bids/companion_files.hpp"

namespace voxherd {

/// A segmentation (_dseg) in the space of a series.
struct segmentation {
  named_file image;
  int distance = 0;          ///< see companion_file
  std::size_t entities = 0;  ///< see companion_file
};

/// A parcellation and its table of names; "" for none, and then `problem` says why.
struct parcellation_choice {
  std::string image, region_names, problem;
};

/// The parcellation among the segmentations. Tissue classes are none: images of which the name or the table of regions
/// says so, and images without both, as fMRIPrep and QSIPrep write them. `filter`: by its kind dseg the user may say
/// that an image is a parcellation.
parcellation_choice choose_parcellation(const std::vector<segmentation>& all, const bids_filter& filter);

/// Whether the names of regions are those of tissue classes.
bool are_tissues(const std::vector<std::string>& names);

}  // namespace voxherd
