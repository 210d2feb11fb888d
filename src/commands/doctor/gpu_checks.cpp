#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "core/device.hpp"
#include "src/commands/doctor/checks.hpp"

namespace voxherd {

namespace {

// The columns of judge_gpus().
constexpr const char* query =
    "nvidia-smi --format=csv,noheader,nounits --query-gpu=index,name,driver_version,memory.total,memory.used,"
    "ecc.errors.uncorrected.volatile.total,ecc.mode.current,persistence_mode,compute_mode,mig.mode.current 2>/dev/null";
namespace column {
enum : std::size_t {
  index,
  name,
  driver,
  memory_total,
  memory_used,
  ecc_errors,
  ecc,
  persistence,
  compute,
  mig,
  count
};
}  // namespace column

std::string output_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "r"), pclose);
  std::string all;
  if (!pipe) return all;
  std::array<char, 4096> part{};
  while (const std::size_t bytes = fread(part.data(), 1, part.size(), pipe.get())) all.append(part.data(), bytes);
  return all;
}

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> found;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) found.push_back(cell.substr(cell.find_first_not_of(' ')));
  return found;
}

/// 0 for "[N/A]" and "[Not Supported]".
double number(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }

findings judge_gpu(const std::vector<std::string>& of) {
  const std::string subject = "GPU " + of[column::index];
  findings all;
  const auto add = [&](verdict how, std::string text) { all.push_back({how, subject, std::move(text)}); };
  if (number(of[column::ecc_errors]) > 0) {
    add(verdict::problem, of[column::ecc_errors] +
                              " uncorrectable memory errors since the driver was loaded: results may be "
                              "wrong; ask the administrator to reset or replace this GPU");
  }
  if (of[column::compute] == "Prohibited")
    add(verdict::problem, "compute mode Prohibited: no program may use it; nvidia-smi -c 0 (administrator) allows it");
  if (of[column::compute] == "Exclusive_Process")
    add(verdict::advice, "compute mode Exclusive_Process: one process only, so --share-gpu will fail");
  if (of[column::ecc] == "Disabled")
    add(verdict::advice, "ECC is off: a flipped bit would go unnoticed; nvidia-smi -e 1 (administrator) turns it on");
  if (number(of[column::memory_used]) > 0.1 * number(of[column::memory_total])) {
    add(verdict::advice, fmt::format("other programs use {} of {} MiB; nvidia-smi lists them", of[column::memory_used],
                                     of[column::memory_total]));
  }
  if (of[column::persistence] == "Disabled") {
    add(verdict::advice,
        "persistence is off: waking it takes 0.3 to 0.5 s of each command; the administrator can start "
        "nvidia-persistenced");
  }
  if (of[column::mig] == "Enabled")
    add(verdict::advice, "MIG is on: a rank sees one instance, not the GPU; give each rank its own instance");
  if (all.empty())
    add(verdict::fine,
        fmt::format("{}, {} MiB, driver {}", of[column::name], of[column::memory_total], of[column::driver]));
  return all;
}

}  // namespace

findings judge_gpus(const std::string& table) {
  findings all;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = columns(line);
    if (cells.size() != column::count) continue;
    for (finding& f : judge_gpu(cells)) all.push_back(std::move(f));
  }
  return all;
}

bool kernels_run_on(int compute_capability, const std::string& architectures) {
  std::istringstream entries(architectures);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const int built_for = std::atoi(entry.c_str());
    // Machine code runs within its generation, PTX also on all newer GPUs.
    const bool only_machine_code = entry.ends_with("-real");
    if (built_for <= compute_capability && (!only_machine_code || built_for / 10 == compute_capability / 10))
      return true;
  }
  return false;
}

findings check_gpus() {
  const bool has_driver = std::filesystem::exists("/proc/driver/nvidia/version");
  if (!built_with_cuda()) {
    if (!has_driver)
      return {{verdict::fine, "GPUs", "none, and this program was built without CUDA: CPU cores compute"}};
    return {{verdict::advice, "GPUs",
             "the node has an NVIDIA driver, but this program was built without CUDA; script/setup --cuda builds it "
             "with CUDA"}};
  }
  std::string why_none;
  const auto gpus = visible_gpus(&why_none);
  if (gpus.empty()) {
    if (!has_driver) return {{verdict::advice, "GPUs", "no NVIDIA driver on this node: CPU cores compute"}};
    return {{verdict::problem, "GPUs",
             why_none + "; does the job ask for GPUs (--gres=gpu:N), and does CUDA_VISIBLE_DEVICES name them?"}};
  }
  findings all = judge_gpus(output_of(query));
  const bool nvidia_smi_knows = !all.empty();
  for (const gpu& g : gpus) {
    const std::string subject = fmt::format("GPU {}", g.ordinal);
    if (!kernels_run_on(g.compute_capability, VOXHERD_GPU_ARCHITECTURES)) {
      all.push_back(
          {verdict::problem, subject,
           fmt::format("{} has compute capability {}.{}, and the kernels are built for {}; use --backend cpu, "
                       "or build with script/setup --gpu-arch {}",
                       g.name, g.compute_capability / 10, g.compute_capability % 10, VOXHERD_GPU_ARCHITECTURES,
                       g.compute_capability)});
    } else if (!nvidia_smi_knows) {
      all.push_back({verdict::fine, subject, g.name + " (nvidia-smi gave no more)"});
    }
  }
  return all;
}

}  // namespace voxherd
