#include "src/analyses/common/input_images.hpp"

#include <nlohmann/json.hpp>

#include "src/io/fingerprint.hpp"

namespace voxherd {

std::vector<nifti_header> find_input_images(const result_reader& r, const char* name) {
  const nlohmann::json inputs = r.provenance().value("inputs", nlohmann::json::object());
  if (!inputs.contains(name) || !describe_change(inputs.at(name)).empty()) return {};
  nifti_header h = read_nifti_header(inputs.at(name).at("path").get<std::string>());
  if (h.grid.size != r.grid().size) return {};
  return {h};
}

}  // namespace voxherd
