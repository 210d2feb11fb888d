#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/export/export_plan.hpp"

namespace voxherd {

inline constexpr auto bids_version = "1.11.1";
extern const char* const code_url;  ///< where the program's source code is; "" if unknown

/// A letter or digit, as in the labels of BIDS names.
inline bool is_bids_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
/// The letters and digits of a text.
std::string bids_label(const std::string& text);

/// Source files that are in BIDS data sets, and these data sets.
struct bids_sources {
  std::vector<std::string> uris;             ///< "bids:raw:sub-01/dwi/sub-01_dwi.nii.gz", sorted
  std::map<std::string, std::string> links;  ///< DatasetLinks: name and place of each data set
};

/// The BIDS data set of `out` is named "", others by their folder's name.
bids_sources find_bids_sources(const std::vector<std::string>& paths, const std::string& out);

/// All paths of input files in a result's provenance, in their order.
std::vector<std::string> input_paths(const nlohmann::json& provenance);

/// dataset_description.json, .bidsignore and README.md. They are shared by all exports to a folder: links to other data
/// sets are added to an existing description.
std::vector<export_text> describe_bids_data_set(const bids_sources& sources);

using bids_json = nlohmann::ordered_json;

/// Where the derivatives of one series are placed in a BIDS data set: FOLDER/NAME_model-..._dwimap.nii.gz.
struct bids_place {
  std::string folder;                ///< "sub-01/ses-a/dwi"
  std::string name;                  ///< the source's entities: "sub-01_ses-a_run-1_space-ACPC"
  std::vector<std::string> sources;  ///< URIs, besides the result's inputs that are in BIDS data sets
  bool half_positions = false;       ///< points of paths in 16 bits
  bids_json program = {};            ///< that computed the result, as in GeneratedBy
};

/// Name, version and commit of the program that computed a result.
bids_json describe_program(const result_reader& result);
/// This program, as a data set or a table that it writes itself names it.
bids_json generated_by();
/// Adds to a sidecar what a file was made from, and by what.
void add_origin(bids_json& sidecar, const bids_place& place);

/// Directions are along FSL's bvec axes, as computed: the voxel axes, with x negated if the determinant of the affine
/// is positive.
bids_json direction_encoding(const char* type);

/// Collects the images of one model, named as BEP016 does, each with its sidecar.
class model_plan {
 public:
  /// `model`: its label. `description`: the sidecars' `Model`. `suffix`: of the files.
  model_plan(const bids_place& place, const std::string& model, bids_json description,
             const std::string& suffix = "dwimap");

  /// Adds the image as NAME_model-..._param-PARAMETER[_desc-DESC]_SUFFIX. `desc` may be "".
  void add(const std::string& parameter, const std::string& desc, export_image image, bids_json sidecar);
  /// The same for a map of the result, with its unit if the sidecar has none.
  void add_map(const result_volumes& result, const std::string& parameter, const std::string& desc,
               const std::string& map, bids_json sidecar);

  export_plan take() { return std::move(plan_); }

 private:
  bids_place place_;
  std::string begin_, suffix_;
  bids_json model_;
  export_plan plan_;
};

/// What distinguishes the matrices and fibres of one series.
struct bids_method {
  const char *label, *description;
};

/// Whether the result has matrices between regions.
bool has_connectome(const result_reader& result);
/// Each matrix as NAME_seg-..._meas-..._desc-..._relmat.tsv, with a sidecar and a list of the nodes (BEP017).
export_plan plan_bids_connectome(const result_volumes& result, const bids_place& place, const bids_method& method);

/// Fibres as NAME_seg-..._desc-..._tractogram.trx with groups by regions, and a sidecar.
export_plan plan_bids_tracts(const result_volumes& result, const bids_place& place, const bids_method& method);

}  // namespace voxherd
