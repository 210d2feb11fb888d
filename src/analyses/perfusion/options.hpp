#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/perfusion/model_forms.hpp"
#include "src/analyses/perfusion/text_values.hpp"

namespace voxherd {

enum class delay_choice { free, zero, two_stage };
enum class arterial_baseline { own, portal };

/// Source of an input curve: the voxels of a VOI, or a table.
struct inflow_files {
  std::string voi, curve;                 ///< one of them; both "" if a table has all curves, or there is no such input
  std::vector<std::int32_t> labels = {};  ///< of the VOI; empty: it is a mask
};

/// `voxherd perfusion`. "" for no file, nothing for values that were not given.
struct perfusion_request {
  std::vector<std::string> dynamic, vfa;
  std::string times, mask;
  std::optional<double> spacing_s;
  std::vector<perfusion::frame_range> skipped;
  int model = 0;  ///< of model_forms()
  std::string arterial_voi, portal_voi, arterial_curve, portal_curve, curves;
  std::vector<std::int32_t> arterial_labels, portal_labels;
  item_region_request regions;
  double haematocrit = 0, density_g_per_ml = 1;

  std::optional<perfusion::signal_kind> signal;  ///< none: concentration
  std::optional<perfusion::frame_range> baseline;
  arterial_baseline arterial_S0 = arterial_baseline::own;
  std::optional<double> relaxivity, repetition_ms, flip_degrees, t1_s, vfa_repetition_ms, t1_blood_s;
  std::string t1_map, vfa_flip_angles;
  double t1_map_unit_s = 1;

  perfusion::solver_kind solver = perfusion::solver_kind::lm;
  perfusion::convolution_kind convolution = perfusion::convolution_kind::recursion;
  std::optional<perfusion::discretisation_kind> discretisation;
  perfusion::precision_kind precision = perfusion::precision_kind::float64;
  std::optional<int> starts, iterations;
  std::string start, fixed, bounds;  ///< lists of parameters
  std::optional<bool> bounded;
  std::optional<double> tolerance, relative_tolerance;
  delay_choice delays = delay_choice::free;
  double delay_window_s = 0;
  std::string delay_roi, maps = "all";
  run_request run;
};

/// The validated settings that the analysis uses.
struct perfusion_settings {
  std::vector<std::string> dynamic, vfa;
  std::string times, mask, t1_map, curves;
  item_region_request regions;
  inflow_files arterial, portal;
  double spacing_s = 0;  ///< 0: from the file of times
  std::vector<perfusion::frame_range> skipped;
  std::optional<perfusion::frame_range> baseline;  ///< none: detected

  perfusion::conversion convert;   ///< all but the baseline
  bool signal_is_assumed = false;  ///< no --signal
  double t1_map_unit_s = 1;
  double t1_blood_s = 0;  ///< 0: from the map or the flip angles
  arterial_baseline arterial_S0 = arterial_baseline::own;
  double haematocrit = 0, density_g_per_ml = 1;

  const model_form* form = &model_forms().front();
  perfusion::fit_settings fit;
  delay_choice delays = delay_choice::free;
  double delay_window_s = 0;
  std::string delay_roi;

  perfusion::map_set maps;              ///< to write
  std::uint64_t host_memory_bytes = 0;  ///< per node, for compressed images
};

const option_table<perfusion_request>& perfusion_options();

/// What a request states of the conversion, without the baseline and sources of T1 other than --t1.
perfusion::conversion make_conversion(const perfusion_request& request);

/// Converts a request to the units of the fit. Throws failure (usage) for options that contradict each other; `given`:
/// the options given on a command line.
perfusion_settings make_perfusion_settings(const perfusion_request& request, const given_options& given = {});

/// Options that change the result, with the values in effect, under their names.
void add_configuration(perfusion_request request, const perfusion_settings& o, nlohmann::json& configuration);

}  // namespace voxherd
