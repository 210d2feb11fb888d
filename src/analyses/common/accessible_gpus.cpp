#include "src/analyses/common/accessible_gpus.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace voxherd {

namespace fs = std::filesystem;

namespace {

/// Names in a folder; none if it cannot be read.
template <class Check>
int count_entries(const fs::path& folder, const Check& check) {
  std::error_code none;
  int count = 0;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) count += check(at->path());
  return none ? 0 : count;
}

/// /dev/nvidia0, but not /dev/nvidiactl. Opening it would wake the GPU; access() asks control groups too.
bool is_accessible_gpu(const fs::path& file) {
  constexpr std::string_view prefix = "nvidia";
  const std::string name = file.filename();
  const bool numbered =
      name.size() > prefix.size() && name.starts_with(prefix) &&
      std::all_of(name.begin() + prefix.size(), name.end(), [](unsigned char c) { return isdigit(c); });
  return numbered && access(file.c_str(), R_OK | W_OK) == 0;
}

bool has_mig_instances(const fs::path& capabilities) {
  const auto is_instance = [](const fs::path& path) { return path.filename().string().starts_with("gi"); };
  return count_entries(capabilities, [&](const fs::path& gpu) { return count_entries(gpu / "mig", is_instance) > 0; }) >
         0;
}

}  // namespace

int accessible_gpus(const std::string& root) {
  const int files = count_entries(root + "/dev", is_accessible_gpu);
  const fs::path driver = root + "/proc/driver/nvidia/gpus";
  std::error_code none;
  if (!fs::is_directory(driver, none)) return files;  // in some sandboxes
  const int known = count_entries(driver, [](const fs::path&) { return true; });
  return files <= known ? files : 0;  // else there are device files of missing GPUs
}

bool gpus_are_renumbered(const std::string& root) {
  std::error_code none;
  return std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr || fs::exists(root + "/tmp/nvidia-mps", none) ||
         has_mig_instances(root + "/proc/driver/nvidia/capabilities");
}

}  // namespace voxherd
