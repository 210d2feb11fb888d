#include "src/tools/cohort/cost_record.hpp"

#include <spdlog/spdlog.h>

#include <fstream>

#include "mpi/result/named_output.hpp"

namespace voxherd {

std::string cost_path(const std::string& out) { return out + ".cost.json"; }

std::optional<cost> read_cost_record(const std::string& out) {
  std::ifstream file(cost_path(out));
  if (!file) return std::nullopt;
  try {
    return nlohmann::json::parse(file).get<cost>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void write_cost_record(const std::string& out, const cost& spent) {
  try {
    write_output({"the cost of a subject:", cost_path(out), true}, nlohmann::json(spent).dump(2) + '\n');
  } catch (const std::exception& e) {
    spdlog::warn("{}", e.what());
  }
}

}  // namespace voxherd
