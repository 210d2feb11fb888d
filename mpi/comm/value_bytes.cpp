#include "mpi/comm/value_bytes.hpp"

#include <nlohmann/json.hpp>

namespace voxherd::value_bytes_detail {

std::string json_bytes(const nlohmann::json& value) {
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  return bytes;
}

void read_json_bytes(const std::string& bytes, nlohmann::json& value) { value = nlohmann::json::from_cbor(bytes); }

}  // namespace voxherd::value_bytes_detail
