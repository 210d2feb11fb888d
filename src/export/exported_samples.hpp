#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// In bedpostX's folder: size and time of each exported file of samples, and of the result that it was exported from.
/// While none of them changes, the result can be read instead, without inflating.
inline constexpr const char* exported_samples_name = "logs/exported_samples.json";

/// Notes the files `names` of the folder, exported from `result`, at `path`. Throws failure (disk).
void write_exported_samples(const std::string& path, const std::string& result, const std::string& folder,
                            const std::vector<std::string>& names);

struct exported_samples {
  std::string result;   ///< path; "" if the files must be read
  std::string problem;  ///< why; "" also if the folder has no such note
};
/// The result from which these files of the folder were exported, if they and the result have not been touched since.
exported_samples find_exported_samples(const std::string& folder, const std::vector<std::string>& names);

}  // namespace voxherd
