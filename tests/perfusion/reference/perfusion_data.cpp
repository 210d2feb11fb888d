#include "tests/perfusion/reference/perfusion_data.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace voxherd::reference {

namespace {

double number(const std::string& cell) {
  std::size_t used = 0;
  try {
    return std::stod(cell, &used);
  } catch (const std::invalid_argument&) {
    return cell.empty() ? 0 : cell[0];
  } catch (const std::out_of_range&) {
    return 0;  // a denormal
  }
}

}  // namespace

std::string perfusion_data::folder() { return VOXHERD_DATA "/perfusion_reference/"; }

bool perfusion_data::is_available() { return std::filesystem::exists(folder() + "truth_150.csv"); }

column_table perfusion_data::table(const std::string& name) {
  std::ifstream file(folder() + name);
  if (!file) throw std::runtime_error("cannot read " + folder() + name);
  std::string line, cell;
  std::vector<std::string> names;
  column_table t;
  std::getline(file, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');) names.push_back(cell);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    for (const auto& column : names) {
      if (!std::getline(row, cell, ',')) throw std::runtime_error(name + ": a line has too few cells");
      t[column].push_back(number(cell));
    }
  }
  return t;
}

perfusion::time_course perfusion_data::frames(const std::string& name) {
  const auto t = table("inputs_" + name + ".csv");
  return {t.at("t_s"), t.at("Ca_mM"), t.at("Cp_mM"), std::vector<std::uint8_t>(t.at("t_s").size(), 1)};
}

perfusion_parameters perfusion_data::parameters(const column_table& t, std::size_t row) {
  return kernel_units({t.at("kl")[row], t.at("ka")[row], t.at("kp")[row], t.at("tau_a")[row], t.at("tau_p")[row]});
}

const std::vector<double>& perfusion_data::voxel(const column_table& curves, std::size_t voxel) {
  char name[8];
  std::snprintf(name, sizeof name, "v%03zu", voxel % 1000);
  return curves.at(name);
}

perfusion_parameters paper_start() { return kernel_units({200, 10, 80, 2, 3}); }

std::vector<double> as_floats(std::vector<double> values) {
  for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  return values;
}

}  // namespace voxherd::reference
