#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/export/bids_folder.hpp"

namespace voxherd {

using bids_json = nlohmann::ordered_json;

/// Directions are along FSL's bvec axes, as computed: the voxel axes, with x negated if the determinant of the affine
/// is positive.
bids_json direction_encoding(const char* type);

/// Collects the images of one model, named as BEP016 does, each with its sidecar.
class model_plan {
 public:
  /// `model`: its label. `description`: the sidecars' `Model`. `suffix`: of the files.
  model_plan(const bids_place& place, const std::string& model, bids_json description,
             const std::string& suffix = "dwimap");

  /// Adds NAME_model-..._param-PARAMETER[_desc-DESC]_SUFFIX. `desc` may be "".
  void add(const std::string& parameter, const std::string& desc, nifti_image form,
           std::function<void(const result_volumes&, const volume_sink&)> make, bids_json sidecar);
  /// The same for a map of the result.
  void add_map(const result_volumes& result, const std::string& parameter, const std::string& desc,
               const std::string& map, const bids_json& sidecar);

  export_plan take() { return std::move(plan_); }

 private:
  std::string begin_, suffix_;
  bids_json sources_, model_;
  export_plan plan_;
};

export_plan plan_bids_ballstick(const result_volumes& result, const bids_place& place);
export_plan plan_bids_tensor(const result_volumes& result, const bids_place& place);
/// Maps with the names and units of OSIPI's lexicon.
export_plan plan_bids_perfusion(const result_volumes& result, const bids_place& place);

/// Whether the result has matrices between regions.
bool has_connectome(const result_reader& result);
/// Each matrix as NAME_seg-..._meas-..._desc-..._relmat.tsv, with a sidecar and a list of the nodes (BEP017).
export_plan plan_bids_connectome(const result_volumes& result, const bids_place& place);

/// Whether the result has fibres.
bool has_fibres(const result_reader& result);
/// Fibres as NAME_seg-..._desc-..._tractogram.trx with groups by regions, and a sidecar.
export_plan plan_bids_tracts(const result_volumes& result, const bids_place& place);

}  // namespace voxherd
