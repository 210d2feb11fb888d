#include "src/tools/cohort/nvml.hpp"

#include <dlfcn.h>

#include <charconv>
#include <memory>

namespace voxherd {

namespace {

// As in nvml.h, which only CUDA's toolkit has.
using nvml_device = void*;
constexpr int nvml_success = 0;
struct nvml_utilization {
  unsigned gpu = 0, memory = 0;  ///< percent
};

class nvml_library {
 public:
  explicit nvml_library(const std::vector<std::string>& gpus) {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    const auto start = find<int()>("nvmlInit_v2");
    started_ = start != nullptr && start() == nvml_success;
    energy_ = find<int(nvml_device, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    utilization_ = find<int(nvml_device, nvml_utilization*)>("nvmlDeviceGetUtilizationRates");
    for (const std::string& gpu : gpus) devices_.push_back(started_ ? find_device(gpu) : nullptr);
  }
  ~nvml_library() {
    if (library_ == nullptr) return;
    const auto end = find<int()>("nvmlShutdown");
    if (started_ && end != nullptr) end();
    dlclose(library_);
  }
  nvml_library(const nvml_library&) = delete;
  nvml_library& operator=(const nvml_library&) = delete;

  gpu_reading read(std::size_t i) const {
    gpu_reading reading;
    const nvml_device device = i < devices_.size() ? devices_[i] : nullptr;
    if (device == nullptr) return reading;
    unsigned long long millijoules = 0;
    if (energy_ != nullptr && energy_(device, &millijoules) == nvml_success)
      reading.energy_j = static_cast<double>(millijoules) * 1e-3;
    nvml_utilization percent;
    if (utilization_ != nullptr && utilization_(device, &percent) == nvml_success) reading.busy = percent.gpu * 0.01;
    return reading;
  }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  /// NVML counts all GPUs, in the order of their PCI addresses, whatever CUDA_VISIBLE_DEVICES says. Null if unknown.
  nvml_device find_device(const std::string& gpu) const {
    nvml_device device = nullptr;
    unsigned number = 0;
    const auto [end, error] = std::from_chars(gpu.data(), gpu.data() + gpu.size(), number);
    if (error == std::errc() && end == gpu.data() + gpu.size()) {
      const auto by_index = find<int(unsigned, nvml_device*)>("nvmlDeviceGetHandleByIndex_v2");
      return by_index != nullptr && by_index(number, &device) == nvml_success ? device : nullptr;
    }
    const auto by_uuid = find<int(const char*, nvml_device*)>("nvmlDeviceGetHandleByUUID");
    return by_uuid != nullptr && by_uuid(gpu.c_str(), &device) == nvml_success ? device : nullptr;
  }

  void* library_ = nullptr;
  bool started_ = false;
  std::vector<nvml_device> devices_;
  int (*energy_)(nvml_device, unsigned long long*) = nullptr;
  int (*utilization_)(nvml_device, nvml_utilization*) = nullptr;
};

}  // namespace

gpu_reader open_nvml(const std::vector<std::string>& gpus) {
  if (gpus.empty()) return {};
  return [library = std::make_shared<const nvml_library>(gpus)](std::size_t i) { return library->read(i); };
}

}  // namespace voxherd
