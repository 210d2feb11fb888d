// NVML of a machine with GPUs 0 to 3, to be found as libnvidia-ml.so.1. Each reading of a GPU's energy is 1 J more than
// the one before; GPU g is busy for 10 (g + 1) percent. VOXHERD_TEST_ENERGY: file to which each reading is appended as
// "GPU millijoules".
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned gpus = 4;
constexpr int success = 0, invalid_argument = 2;
std::array<unsigned long long, gpus> millijoules{};

struct utilization {
  unsigned gpu, memory;
};

/// A device is its number plus 1, so that none is null.
unsigned number_of(void* device) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) - 1); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return success; }
int nvmlShutdown() { return success; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpus) return invalid_argument;
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return success;
}

int nvmlDeviceGetHandleByUUID(const char*, void**) { return invalid_argument; }

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  const unsigned number = number_of(device);
  *energy = millijoules[number] += 1000;
  const char* const path = std::getenv("VOXHERD_TEST_ENERGY");
  if (std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a")) {
    std::fprintf(file, "%u %llu\n", number, *energy);
    std::fclose(file);
  }
  return success;
}

int nvmlDeviceGetUtilizationRates(void* device, utilization* now) {
  now->gpu = 10 * (number_of(device) + 1);
  return success;
}
}
