#include "src/analyses/common/own_gpu.hpp"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/gpu_choice.hpp"
#include "src/analyses/common/accessible_gpus.hpp"

namespace voxherd {

namespace {

constexpr const char* visible_devices = "CUDA_VISIBLE_DEVICES";

std::optional<std::string> read_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// What this process has done; the environment is the process's too.
struct shown_gpus {
  offered_gpus before;
  int node_rank = 0;
  bool only_own = false;
};

shown_gpus& shown() {
  static shown_gpus state;
  return state;
}

}  // namespace

void show_only_own_gpu() {
  const auto node_rank = launched_node_rank(read_variable);
  if (!node_rank) return;
  const offered_gpus offered{read_variable(visible_devices), accessible_gpus(), gpus_are_renumbered()};
  const auto own = only_own_gpu(offered, *node_rank);
  if (!own) return;
  shown() = {offered, *node_rank, true};
  setenv(visible_devices, own->c_str(), 1);
}

void confirm_own_gpu(const session& s) {
  struct choice {
    std::size_t listed;
    int accessible;
    bool only_own, is_node_rank;
    bool operator==(const choice&) const = default;
  };
  const shown_gpus& own = shown();
  const choice mine{std::hash<std::string>()(own.before.listed.value_or("all")), own.before.accessible, own.only_own,
                    own.node_rank == s.node_rank()};
  for (const choice& other : s.node_all_gather(mine)) {
    if (!(other == mine) || !other.is_node_rank) {
      show_all_gpus();
      return;
    }
  }
}

namespace {

/// Made when it is first used, so that it is destroyed, and waits for its threads, before CUDA ends.
struct waking_gpu {
  std::shared_future<void> finding;
  std::future<void> opening;
};

waking_gpu& waking() {
  static waking_gpu state;
  return state;
}

/// Errors are left to the first user.
template <class Work>
void attempt(const Work& work) {
  try {
    work();
  } catch (const device_error&) {
  }
}

}  // namespace

void wake_gpu() {
  if (!built_with_cuda() || waking().finding.valid()) return;
  const std::shared_future<void> finding = std::async(std::launch::async, [] { attempt([] { visible_gpus(); }); });
  waking().finding = finding;
  if (!shown().only_own) return;
  waking().opening = std::async(std::launch::async, [finding] {
    finding.wait();
    attempt([] { free_device_bytes({backend::cuda, 1, 0}); });
  });
}

void await_gpus() {
  if (waking().finding.valid()) waking().finding.wait();
}

bool show_all_gpus() {
  if (!shown().only_own) return false;
  shown().only_own = false;
  spdlog::debug("all GPUs of {} are visible again", shown().before.listed.value_or("the node"));
  if (shown().before.listed) {
    setenv(visible_devices, shown().before.listed->c_str(), 1);
  } else {
    unsetenv(visible_devices);
  }
  return true;
}

}  // namespace voxherd
