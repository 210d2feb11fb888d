#include "src/io/utf8.hpp"

#include <nlohmann/json.hpp>

namespace voxherd {

std::string valid_utf8(const std::string& text) {
  using json = nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

}  // namespace voxherd
