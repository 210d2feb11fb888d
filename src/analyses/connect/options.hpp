#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/region_reader.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

using point_in_mm = std::array<double, 3>;  ///< world, RAS+

/// `voxherd connect`. "" for no file.
struct connect_request {
  tensor_source_request tensors;
  std::string from, to;  ///< files of the two ends
  std::vector<std::int32_t> from_labels, to_labels;
  std::optional<point_in_mm> from_point, to_point;
  double ball_voxels = 3;
  std::vector<std::string> connectome;  ///< files
  std::vector<std::int32_t> labels;
  surface_request surfaces;
  std::string region_names, within;
  std::optional<double> within_FA;  ///< nothing or 0: everywhere
  tensor_field::metric_kind metric = tensor_field::metric_kind::jeong;
  std::optional<double> alpha;
  double smoothing_voxels = 0;
  double max_ratio = 100;
  connect::scheme_kind scheme = connect::scheme_kind::selling;
  std::optional<int> order;
  double tolerance = 1e-6;
  bool in_place = false;
  double epsilon = 0.05;
  std::string paths, arrivals;
  bool gain = false;
  std::uint64_t max_paths = 1000;
  std::uint64_t bootstrap = 0;
  std::uint64_t random_seed = 8665904;
  double interval_percent = 95;
  run_request run;

  bool is_connectome() const { return !connectome.empty(); }
  bool has_min_FA() const { return within_FA.value_or(0) > 0; }
};

/// One of two ends: labels of an image (or a mask), or a point.
struct end_choice {
  std::string file;                  ///< "" for a point
  std::vector<std::int32_t> labels;  ///< empty: all above 0
  point_in_mm point_mm{};
};

enum class end_side { from, to };
end_choice choose_end(const connect_request& request, end_side side);

/// The request with all defaults, and what the kernels need of it.
struct connect_settings : connect_request {
  tensor_field::preparation how;
  connect::solver_settings solver;
};

const option_table<connect_request>& connect_options();

/// The settings of a finished run that hold for any ends: without its regions, epsilon, bootstrap and --in-place.
connect_request read_settings_for_other_ends(const nlohmann::json& configuration);

connect_settings make_connect_settings(const connect_request& request);

/// Unit of arrival times.
std::string cost_unit(const tensor_field::preparation& how);

/// Collective. Throws failure, the same on every rank.
exit_status run_connect(session& s, const connect_request& request);

}  // namespace voxherd
