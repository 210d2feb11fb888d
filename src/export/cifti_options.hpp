#pragma once

#include <string>
#include <vector>

#include "core/options.hpp"

namespace voxherd {

/// The values of a matrix that are exported.
enum class matrix_quantity { count, mean_length, length_sum };
/// What they are divided by.
enum class matrix_divisor { none, waytotal, seed };

/// The options of `export --to cifti`.
struct cifti_request {
  std::string brain_models;             ///< CIFTI file whose greyordinates are used
  std::vector<std::string> structures;  ///< of each file of seeds
  std::vector<std::string> parcels;     ///< .dlabel.nii, or .label.gii of surfaces
  std::string blueprint;                ///< result of track --tracts
  std::string matrix;                   ///< between regions: its name; "": the first one
  matrix_quantity quantity = matrix_quantity::count;
  matrix_divisor divisor = matrix_divisor::none;
  std::string waytotal;  ///< file
  bool log = false, symmetric = false, transpose = false;
  double host_memory_gb = 4;
};

const option_table<cifti_request>& cifti_options();

}  // namespace voxherd
