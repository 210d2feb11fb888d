#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "kernels/connect/settings.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// One of two ends: an image's labels (or its mask), or a place.
struct end_choice {
  std::string file;                  ///< "" for a place
  std::vector<std::int32_t> labels;  ///< empty: all above 0
  std::array<double, 3> point_mm{};  ///< world, RAS+
};

struct bootstrap_options {
  std::uint64_t replicates = 0;  ///< 0: none
  std::uint64_t seed = 0;
  double interval_percent = 95;
};

struct connect_options {
  end_choice from, to;
  bool connectome = false;
  std::string parcellation;          ///< of --connectome
  std::vector<std::int32_t> labels;  ///< of it; empty: all
  std::string region_names;          ///< file; "" for none
  std::string within;                ///< file; "" for none
  geodesic::preparation how;
  double max_ratio = 100;  ///< of the eigenvalues of S
  connect::solver_settings solver;
  double ball_voxels = 3;
  double epsilon = 0.05;
  std::string paths, arrivals;  ///< files to be kept; "" for none
  std::uint64_t path_count = 0;
  bootstrap_options bootstrap;
};

/// Everything that `voxherd connect` takes besides tensors and the options of every run.
void add_connect_options(po::options_description& options);

/// Values and combinations, checked before any file is opened. Throws failure (usage).
connect_options read_connect_options(const arguments& args);

/// What changes the result, as it is in effect, under the options' names.
void add_to_configuration(const connect_options& o, const arguments& args, nlohmann::json& configuration);

/// What arrival times are in.
std::string cost_unit(const geodesic::preparation& how);

}  // namespace voxherd
