#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "src/analyses/perfusion/map_list.hpp"
#include "src/analyses/perfusion/text_values.hpp"

namespace voxherd {

enum class inflow_model { dual, arterial };
enum class delay_choice { free, zero, two_stage };
enum class arterial_baseline { own, portal };

/// Where the two input curves come from: a VOI's voxels, or a table.
struct inflow_files {
  std::string voi, curve;  ///< one of them; both "" where a table has all curves, or there is no such input
};

struct perfusion_options {
  std::vector<std::string> dynamic, vfa;
  std::string times, mask, t1_map, curves;
  inflow_files arterial, portal;
  double spacing_s = 0;  ///< 0: from the file of times
  std::vector<perfusion::frame_range> skipped;
  std::optional<perfusion::frame_range> baseline;  ///< none: detected

  perfusion::conversion convert;  ///< all but the baseline
  double t1_map_unit_s = 1;
  double t1_blood_s = 0;  ///< 0: from the map or the flip angles
  arterial_baseline arterial_S0 = arterial_baseline::own;
  double haematocrit = 0, density_g_per_ml = 1;

  inflow_model model = inflow_model::dual;
  perfusion::fit_settings fit;
  delay_choice delays = delay_choice::free;
  double delay_window_s = 0;
  std::string delay_roi;

  perfusion::map_set maps;              ///< to be written
  std::uint64_t host_memory_bytes = 0;  ///< of a node, for what compressed images hold
};

/// Everything that `voxherd perfusion` takes besides the options of every run.
void add_perfusion_options(po::options_description& options);

/// Values and combinations, checked before any file is opened. Throws failure (usage).
perfusion_options read_perfusion_options(const arguments& args);

/// The parts of it.
void read_signal_options(const arguments& args, perfusion_options& o);
void read_fit_options(const arguments& args, perfusion_options& o);

/// What changes the result, as it is in effect, under the options' names.
void add_to_configuration(const perfusion_options& o, const arguments& args, nlohmann::json& configuration);

}  // namespace voxherd
