#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/perfusion/reference/perfusion_reference.hpp"

/// data/perfusion_reference (described in its README) under VOXHERD_DATA.
namespace voxherd::reference {

/// Columns of a file of comma-separated numbers, by name. Cells that are not numbers (the letter of an action) become
/// the code of their first character.
using column_table = std::map<std::string, std::vector<double>>;

class perfusion_data {
 public:
  static bool is_available();
  static std::string folder();
  static column_table table(const std::string& file);

  /// inputs_`name`.csv, counting all frames.
  static perfusion::time_course frames(const std::string& name);

  /// A row of a table of fits or truths: parameters in 1/s and s.
  static perfusion_parameters parameters(const column_table& t, std::size_t row);

  /// Column v000, v001, ... of a table of curves.
  static const std::vector<double>& voxel(const column_table& curves, std::size_t voxel);

  static constexpr std::size_t voxels = 150;
};

/// kl 200, ka 10, kp 80 ml/100 g/min, 2 s, 3 s: the paper's start.
perfusion_parameters paper_start();

/// Rounded to float, as the program reads them.
std::vector<double> as_floats(std::vector<double> values);

}  // namespace voxherd::reference
