#include "src/analyses/common/choose_device.hpp"

#include <fmt/core.h>
#include <omp.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>

#include "core/control_groups.hpp"
#include "core/device_choice.hpp"
#include "core/threads.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/common/openmp_team.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

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

/// The device files that permissions and control groups allow, if the driver knows as many GPUs.
int count_accessible_gpus(const std::string& root) {
  const int files = count_entries(root + "/dev", is_accessible_gpu);
  const fs::path driver = root + "/proc/driver/nvidia/gpus";
  std::error_code none;
  if (!fs::is_directory(driver, none)) return files;  // in some sandboxes
  const int known = count_entries(driver, [](const fs::path&) { return true; });
  return files <= known ? files : 0;  // else there are device files of missing GPUs
}

/// Whether the multi-process service (MPS) runs, or a GPU is partitioned (MIG).
bool are_gpus_renumbered(const std::string& root) {
  std::error_code none;
  return std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr || fs::exists(root + "/tmp/nvidia-mps", none) ||
         has_mig_instances(root + "/proc/driver/nvidia/capabilities");
}

}  // namespace

gpu_file_functions gpu_files{count_accessible_gpus, are_gpus_renumbered};

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

/// Starts CUDA and opens a GPU in threads of their own, while inputs are read. Errors are left to the first user of a
/// GPU.
class gpu_waker {
 public:
  void find_gpus() {
    if (finding_.valid()) return;
    finding_ = start_task("starts the GPU", [] { attempt([] { visible_gpus(); }); });
  }
  void open(const device& d) {
    if (opening_.valid() && opened_ == d.cuda_ordinal) return;
    opened_ = d.cuda_ordinal;
    opening_ = start_task("starts the GPU", [d, finding = finding_] {
      if (finding.valid()) finding.wait();
      attempt([&] { free_device_bytes(d); });
    });
  }
  void await_gpus() const {
    if (finding_.valid()) finding_.wait();
  }
  void await_threads() const {
    await_gpus();
    if (opening_.valid()) opening_.wait();
  }

 private:
  template <class Work>
  static void attempt(const Work& work) {
    try {
      work();
    } catch (const device_error&) {
    }
  }

  std::shared_future<void> finding_;
  std::future<void> opening_;
  int opened_ = 0;  ///< number of the GPU that `opening_` opens
};

gpu_waker& waker() {
  static gpu_waker one;
  return one;
}

}  // namespace

void show_only_own_gpu() {
  const auto node_rank = launched_node_rank(read_variable);
  if (!node_rank) return;
  const offered_gpus offered{read_variable(visible_devices), gpu_files.accessible(""), gpu_files.are_renumbered("")};
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

void wake_gpu() {
  if (!built_with_cuda()) return;
  waker().find_gpus();
  if (shown().only_own) waker().open({backend::cuda, 1, 0});
}

void await_woken_gpu() { waker().await_threads(); }

namespace {

using uuid = std::array<unsigned char, 16>;

std::string uuid_text(const uuid& id) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < id.size(); ++i) {
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
  }
  return text;
}

/// A rank with a GPU has one communication thread and two threads that drive the GPU and mostly wait for it.
constexpr int cores_of_gpu_rank = 2;

struct core_share {
  int threads = 1;  ///< number of threads of this rank
  int of_node = 0;  ///< cores that the ranks of the node may use; 0: unknown
};

/// The cores that this rank may use, divided among the ranks of the node that are bound to the same cores.
/// `drives_gpu`: this rank computes on a GPU while other ranks compute on cores. Collective within the node.
core_share share_cores(const session& s, bool drives_gpu = false) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return {std::max(1, usable_cores() / s.node_size()), 0};
  const std::vector<cpu_set_t> of_node = s.node_all_gather(own);
  const std::vector<int> drivers = s.node_all_gather(drives_gpu ? 1 : 0);
  cpu_set_t all_of_node;
  CPU_ZERO(&all_of_node);
  int sharers = 0, taken = 0;
  for (std::size_t r = 0; r < of_node.size(); ++r) {
    const bool shares = CPU_EQUAL(&own, &of_node[r]);
    sharers += shares && drivers[r] == 0 ? 1 : 0;
    taken += shares && drivers[r] != 0 ? cores_of_gpu_rank : 0;
    CPU_OR(&all_of_node, &all_of_node, &of_node[r]);
  }
  const int of_rank = std::max(1, (CPU_COUNT(&own) - taken) / std::max(1, sharers));
  // A quota is that of a job or container, which its ranks on the node share.
  const int cores = CPU_COUNT(&all_of_node), quota = within_quota(cores);
  const int of_quota = quota < cores ? std::max(1, quota / s.node_size()) : of_rank;
  return {std::min(of_rank, of_quota), cores};
}

/// `drives_gpu`: see share_cores(). Collective within the node.
device cpu_device(const session& s, const run_request& request, bool drives_gpu = false) {
  device d;
  d.threads = std::min(request.threads, max_team_threads());
  if (request.threads > 0) return d;
  const core_share share = share_cores(s, drives_gpu);
  d.threads = std::min(share.threads, max_team_threads());
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (share.of_node > 0 && share.of_node < cores)
    spdlog::info("the ranks on {} are bound to {} of its {} cores; `mpirun --bind-to none` lets them use all", s.host(),
                 share.of_node, cores);
  return d;
}

/// Where CUDA rejects the one GPU that was made visible, all that it sees.
std::vector<gpu> find_gpus(std::string* why_none) {
  waker().await_gpus();
  std::vector<gpu> gpus = visible_gpus(why_none);
  if (gpus.empty() && show_all_gpus()) gpus = visible_gpus(why_none);
  return gpus;
}

/// Throws when another rank of this node has the same GPU: by UUID, since each rank may number GPUs its own way.
void check_not_shared(const session& s, const gpu& own) {
  const std::vector<uuid> of_node = s.node_all_gather(own.uuid);
  const auto sharers = std::count(of_node.begin(), of_node.end(), own.uuid);
  s.agree([&] {
    if (sharers < 2) return;
    refuse_usage("{} ranks on {} have the same GPU ({}, {}); start one rank per GPU, or allow sharing with --share-gpu",
                 sharers, s.host(), own.name, uuid_text(own.uuid));
  });
}

/// Index in `own` of this rank's GPU: each rank in turn takes the first GPU it sees that no earlier rank has taken.
/// own.size() if none is left.
std::size_t first_free(const session& s, const std::vector<gpu>& own) {
  struct visible {
    std::array<uuid, 64> gpus{};
    std::size_t count = 0;
  };
  visible mine;
  mine.count = std::min(mine.gpus.size(), own.size());
  for (std::size_t g = 0; g < mine.count; ++g) mine.gpus[g] = own[g].uuid;
  const std::vector<visible> of_node = s.node_all_gather(mine);
  std::set<uuid> taken;
  for (std::size_t r = 0; r < of_node.size(); ++r) {
    const auto begin = of_node[r].gpus.begin(), end = begin + static_cast<std::ptrdiff_t>(of_node[r].count);
    const auto free = std::find_if(begin, end, [&](const uuid& id) { return !taken.contains(id); });
    if (r == static_cast<std::size_t>(s.node_rank()))
      return free == end ? own.size() : static_cast<std::size_t>(free - begin);
    if (free != end) taken.insert(*free);
  }
  return own.size();
}

/// --backend mixed.
device gpu_or_cores(const session& s, const run_request& request) {
  std::string why_none;
  std::vector<gpu> gpus;
  s.agree([&] { gpus = find_gpus(&why_none); });
  const std::size_t place = first_free(s, gpus);
  const bool has_gpu = place < gpus.size();
  std::array<int, 2> ranks{has_gpu ? 1 : 0, has_gpu ? 0 : 1};
  s.all_reduce(reduction::sum, std::span<int>(ranks));
  if (ranks[0] == 0) {
    refuse_usage("--backend mixed: {}; --backend cpu computes without a GPU", why_none);
  }
  if (s.is_root()) {
    spdlog::info("{} ranks compute on GPUs, {} on CPU cores: rounding differs with the device that computed a voxel",
                 ranks[0], ranks[1]);
  }
  device d = cpu_device(s, request, has_gpu);
  d.among_others = true;
  if (!has_gpu) return d;
  d.threads = device().threads;
  d.kind = backend::cuda;
  d.cuda_ordinal = gpus[place].ordinal;
  s.note_stage("GPU chosen");
  waker().open(d);
  return d;
}

}  // namespace

void limit_teams(const session& s, int wanted_threads) {
  const int wanted = std::max(share_cores(s).threads, wanted_threads);
  const int possible = count_startable_threads(threads_of_run(wanted)),
            threads = std::min(wanted, possible_team(possible));
  if (threads < wanted) {
    limit_team_threads(threads);
    spdlog::warn("on {} only {} more threads can be started ({}): computing with {} instead of {} threads", s.host(),
                 possible, thread_limits_text(), threads, wanted);
  }
  omp_set_num_threads(std::min(omp_get_max_threads(), threads));
}

device choose_device(const session& s, const run_request& request) {
  if (is_asked()) return {};  // nothing is computed
  const backend_choice choice = request.backend;
  const bool is_automatic = choice == backend_choice::automatic;
  if (choice == backend_choice::mixed) return gpu_or_cores(s, request);
  if (choice == backend_choice::cpu || (is_automatic && !built_with_cuda())) return cpu_device(s, request);
  std::string why_none;
  std::vector<gpu> gpus;
  s.agree([&] { gpus = find_gpus(&why_none); });
  const int ranks_with = s.all_reduce(reduction::sum, gpus.empty() ? 0 : 1);
  if (ranks_with == 0 && is_automatic) return cpu_device(s, request);
  s.agree([&] {
    if (!gpus.empty()) return;
    refuse_usage("--backend {}: {}; --backend cpu computes without a GPU", is_automatic ? "auto" : "cuda", why_none);
  });
  device d;
  d.kind = backend::cuda;
  // For what is prepared on the host.
  d.threads = std::min(request.threads > 0 ? request.threads : share_cores(s).threads, max_team_threads());
  const gpu& own = gpus[static_cast<std::size_t>(request.gpu.value_or(s.node_rank())) % gpus.size()];
  d.cuda_ordinal = own.ordinal;
  if (!request.share_gpu) check_not_shared(s, own);
  s.note_stage("GPU chosen");
  waker().open(d);
  return d;
}

void refuse_mixed(const run_request& request) {
  if (request.backend == backend_choice::mixed) {
    refuse_usage(
        "--backend mixed: a later step of this command repeats computations of an earlier one, which CPU and GPU round "
        "differently; use --backend cuda or --backend cpu");
  }
}

device choose_device_of_one_kind(const session& s, const run_request& request) {
  refuse_mixed(request);
  return choose_device(s, request);
}

device_hooks hooks_for(const device& d) {
  device_hooks hooks;
  const bool cuda = d.kind == backend::cuda;
  hooks.kind = d.among_others ? device_kind::mixed : cuda ? device_kind::cuda : device_kind::cpu;
  hooks.record = {"cpu", d.threads, "", ""};
  if (cuda) {
    for (const gpu& g : visible_gpus()) {
      if (g.ordinal == d.cuda_ordinal) hooks.record = {"cuda", 0, g.name, uuid_text(g.uuid)};
    }
    hooks.free_bytes = free_device_bytes(d);
  }
  hooks.enter_thread = [d] {
    static thread_local const openmp_team team;  // until the thread ends
    use_device(d);
    omp_set_num_threads(d.threads);
  };
  hooks.allocate = [d](std::size_t bytes) {
    const auto buffer = std::make_shared<host_buffer>(d, bytes);
    return std::shared_ptr<std::byte>(buffer, buffer->data());
  };
  hooks.peak_bytes = [cuda] { return cuda ? peak_device_bytes() : 0; };
  return hooks;
}

}  // namespace voxherd
