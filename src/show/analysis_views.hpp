#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/options.hpp"
#include "mpi/comm/session.hpp"
#include "src/export/bids.hpp"
#include "src/scan/dwi.hpp"
#include "src/show/draft.hpp"
#include "src/show/panels.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd {

namespace report {
struct methods_text;  // methods.hpp
}

/// A map with one number per voxel, for analyses that need no more than this in the report and in BIDS.
struct map_views {
  const char* output = nullptr;
  const char* note = "";                 ///< how to read it, one sentence; its colours begin at 0
  const char* bids_parameter = nullptr;  ///< PARAMETER of NAME_model-..._param-PARAMETER_dwimap; null: not written
};

/// Its chapter in the report. Without functions: the listed maps, or all maps and distributions.
struct chapter_views {
  void (*write)(report::result_draft& d) = nullptr;          ///< pictures, charts and warnings
  void (*write_methods)(report::methods_text& m) = nullptr;  ///< sentences and the papers that they cite
};

enum class bids_input { none, diffusion, dynamic, result };

/// Files of a series from which `voxherd bids` computes an analysis; "" for none.
struct bids_inputs {
  dwi_request series;
  std::string result;  ///< result of the analysis that it needs
  std::string parcellation, region_names;
  std::string paths;  ///< to write
};

/// An image of a data set, and its sidecars with their contents, the nearest first.
struct bids_image {
  std::string path;
  std::vector<std::pair<std::string, nlohmann::json>> sidecars;

  /// The nearest sidecar with this field; "" without one.
  std::string find_sidecar(const std::string& field) const;
  std::optional<double> number(const std::string& field) const;
};

/// A dynamic series, and the images of its subject that --bids-filter-file names by their kind.
class dynamic_inputs {
 public:
  virtual ~dynamic_inputs() = default;
  virtual const bids_image& series() const = 0;
  virtual bool has(const std::string& kind) const = 0;
  /// At least one. `suffix`: of their names. Throws failure (bad_data).
  virtual std::vector<bids_image> images(const std::string& kind, const std::string& suffix) const = 0;
  /// The only one. Throws as above.
  virtual std::string image(const std::string& kind, const std::string& suffix) const = 0;
};

/// How `voxherd bids` computes it, after the analyses that are before it in the list.
struct bids_run {
  bids_input input = bids_input::none;  ///< none: `voxherd bids` does not offer it
  const char* needs = "";               ///< bids_input::result: the analysis that makes it
  const char* sources[2] = {};          ///< derivatives that are made from the same result: what follows sub-..._
  bool has_regions = false;             ///< it needs a parcellation
  bool has_paths = false;               ///< it has the option --paths
  /// The inputs as its options; null: those of the series.
  std::vector<std::string> (*words)(const bids_inputs& inputs) = nullptr;
  /// The same of a dynamic series. `given`: by the user, whose options come before what is found.
  std::vector<std::string> (*dynamic_words)(const dynamic_inputs& inputs, const given_options& given) = nullptr;
};

/// Its names in BIDS.
struct bids_views {
  const char* datatype = "dwi";  ///< folder of its derivatives
  const char* model = nullptr;   ///< label of map_views; null: the analysis's name
  /// Images with their sidecars; null: those of map_views.
  export_plan (*plan)(const result_volumes& result, const bids_place& place) = nullptr;
  bids_method method{"voxherd", "a connectome of voxherd"};  ///< what distinguishes matrices and fibres of one series
  bids_run run = {};
};

/// Its panels in the viewer.
struct viewer_views {
  /// What it knows of one voxel besides its maps, and what the page shows of that: "curves" of signals in time, or
  /// "orientations" of fibres; "" without a panel.
  const char* voxel_kind = "";
  std::unique_ptr<view::voxel_panel> (*make_voxel_panel)(const result_reader& r,
                                                         const report::grid_view& grid) = nullptr;
  /// Rays of a finished run, traced again.
  std::unique_ptr<view::ray_panel> (*make_ray_panel)(const session& s, const result_reader& r,
                                                     const device& d) = nullptr;
  /// The surfaces among the inputs of a result.
  std::vector<shown_surface> (*read_surfaces)(const result_reader& r) = nullptr;
  const char* overlays[2] = {};          ///< maps that are shown in colour first: the first one that the result has
  const char* tensor_output = nullptr;   ///< tensors with which connections can be solved
  bool has_connection_settings = false;  ///< its configuration has the options of connect
};

/// Everything that an analysis adds to other places. NAME_views of each analysis in the list of CMakeLists.txt is
/// found from there.
struct analysis_views {
  const char* analysis;
  map_views maps[8] = {};
  chapter_views chapter = {};
  bids_views bids = {};
  viewer_views viewer = {};
  const export_kind* exports[2] = {};  ///< formats of `voxherd export` for its results only
};

/// In the order of the list.
std::span<const analysis_views* const> all_analysis_views();

/// The views of the analysis that wrote a result: `connect` for connect and connect-paths. An empty one for an unknown
/// analysis.
const analysis_views& find_views(const result_reader& r);
/// The views of an analysis with this name.
const analysis_views& find_views(const std::string& analysis);

namespace report {

/// The chapter of the result's analysis.
void write_chapter(result_draft& d);
/// All maps and distributions, for a result without a chapter of its own.
void write_all_outputs(result_draft& d);

}  // namespace report

}  // namespace voxherd
