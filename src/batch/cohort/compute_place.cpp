#include "src/batch/cohort/child_pool.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

namespace voxherd {

namespace {

constexpr int cores_per_place = 8;

bool names_gpu(std::string_view entry) {
  const bool is_number =
      !entry.empty() && std::all_of(entry.begin(), entry.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number || entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

int share_of_cores(int cores, std::size_t places) {
  return std::max(1, cores / static_cast<int>(std::max<std::size_t>(1, places)));
}

}  // namespace

std::vector<std::string> name_gpus(const std::optional<std::string>& listed, int count) {
  std::vector<std::string> gpus;
  if (!listed) {
    for (int g = 0; g < count; ++g) gpus.push_back(std::to_string(g));
    return gpus;
  }
  std::istringstream entries(*listed);
  for (std::string entry; std::getline(entries, entry, ',') && names_gpu(entry);) gpus.push_back(entry);
  return gpus;
}

std::vector<compute_place> make_gpu_places(std::size_t gpus, std::size_t per_gpu, int cores) {
  std::vector<compute_place> places;
  for (std::size_t i = 0; i < gpus * per_gpu; ++i) places.push_back({i % gpus, share_of_cores(cores, gpus * per_gpu)});
  return places;
}

std::vector<compute_place> make_cpu_places(std::size_t count, int cores) {
  if (count == 0) count = static_cast<std::size_t>(std::max(1, cores / cores_per_place));
  return std::vector<compute_place>(count, {std::nullopt, share_of_cores(cores, count)});
}

std::vector<double> opening_fractions(const std::vector<compute_place>& places) {
  std::vector<double> fractions;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto shares_gpu = [&](const compute_place& other) { return other.gpu && other.gpu == places[i].gpu; };
    const auto here = places.begin() + static_cast<std::ptrdiff_t>(i);
    const auto before = static_cast<double>(std::count_if(places.begin(), here, shares_gpu));
    const auto all = static_cast<double>(std::count_if(places.begin(), places.end(), shares_gpu));
    fractions.push_back(all > 0 ? before / all : 0);
  }
  return fractions;
}

std::optional<std::size_t> choose_place(const std::vector<compute_place>& places, const std::vector<bool>& taken) {
  const auto users = [&](std::size_t place) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < places.size(); ++i) count += taken[i] && places[i].gpu == places[place].gpu ? 1 : 0;
    return count;
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!taken[i] && (!best || users(i) < users(*best))) best = i;
  return best;
}

namespace {

// These copy nvml.h, which only CUDA's toolkit has.
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

namespace {

constexpr double seconds_per_hour = 3600, joules_per_wh = 3600;

cost passed_on_gpu(double hours, const gpu_reading& before, const gpu_reading& now) {
  cost c;
  c.gpu_hours = hours;
  // The counter starts again when the driver is loaded again.
  if (before.energy_j && now.energy_j) c.energy_wh = std::max(0.0, *now.energy_j - *before.energy_j) / joules_per_wh;
  if (now.busy) {
    c.metered_gpu_hours = hours;
    c.busy_gpu_hours = hours * *now.busy;
  }
  return c;
}

}  // namespace

cost_meter::cost_meter(std::size_t gpus, gpu_reader read, double now_s) : read_(std::move(read)), last_s_(now_s) {
  for (std::size_t g = 0; g < gpus; ++g) last_.push_back(read_(g));
}

void cost_meter::begin(std::size_t subject, const compute_place& where, const cost& so_far) {
  running_[subject] = {where, so_far};
}

void cost_meter::divide(std::size_t gpu, const cost& passed) {
  const auto is_user = [&](const auto& entry) { return entry.second.where.gpu == gpu; };
  const auto users = std::count_if(running_.begin(), running_.end(), is_user);
  for (auto& entry : running_)
    if (is_user(entry)) entry.second.spent += passed * (1.0 / static_cast<double>(users));
}

void cost_meter::measure(double now_s) {
  const double hours = (now_s - last_s_) / seconds_per_hour;
  last_s_ = now_s;
  for (std::size_t g = 0; g < last_.size(); ++g) {
    const gpu_reading now = read_(g);
    const cost passed = passed_on_gpu(hours, last_[g], now);
    last_[g] = now;
    total_ += passed;
    divide(g, passed);
  }
  for (auto& [subject, own] : running_) {
    if (own.where.gpu) continue;
    own.spent.core_hours += hours * own.where.threads;
    total_.core_hours += hours * own.where.threads;
  }
}

}  // namespace voxherd
