#pragma once

#include <string>
#include <vector>

#include "src/export/export_plan.hpp"

namespace voxherd {

/// Where the derivatives of one series are placed in a BIDS data set: FOLDER/NAME_model-..._dwimap.nii.gz.
struct bids_place {
  std::string folder;                ///< "sub-01/ses-a/dwi"
  std::string name;                  ///< the source's entities: "sub-01_ses-a_run-1_space-ACPC"
  std::vector<std::string> sources;  ///< URIs, besides the result's inputs that are in BIDS data sets
  bool half_positions = false;       ///< of fibres
};

/// Writes a result as BIDS derivatives: maps by BEP016, connectomes by BEP017, perfusion by OSIPI's lexicon.
/// Collective. Throws failure: as export_folder(); bad_data for a result without BIDS names.
void export_bids_folder(const session& s, const export_settings& settings, const bids_place& place);

}  // namespace voxherd
