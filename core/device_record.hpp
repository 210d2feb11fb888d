#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace voxherd {

/// The device of a rank as stored in results.
struct device_record {
  std::string kind = "cpu";  ///< "cpu" or "cuda"
  int threads = 0;           ///< CPU threads; 0 for a GPU
  std::string name, uuid;    ///< of a GPU
};

/// "8 CPU threads" or "NVIDIA H200, GPU-1f2e...".
std::string describe(const device_record& d);

nlohmann::json as_json(const device_record& d);
/// Also reads the text of describe(), which older versions stored in results.
device_record device_from_json(const nlohmann::json& j);

}  // namespace voxherd
