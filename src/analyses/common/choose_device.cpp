#include <fmt/core.h>
#include <omp.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <set>
#include <thread>

#include "src/analyses/common/own_gpu.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

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
  int threads = 1;  ///< of this rank
  int of_node = 0;  ///< cores that the ranks of the node may use; 0: unknown
};

/// The cores that this rank may use, divided among the ranks of the node that are bound to the same cores.
/// `drives_gpu`: this rank computes on a GPU while other ranks compute on cores. Collective within the node.
core_share share_cores(const session& s, bool drives_gpu = false) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0)
    return {std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / s.node_size())};
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
  return {std::max(1, (CPU_COUNT(&own) - taken) / std::max(1, sharers)), CPU_COUNT(&all_of_node)};
}

/// `drives_gpu`: see share_cores(). Collective within the node.
chosen_device cpu_device(const session& s, const run_request& request, bool drives_gpu = false) {
  chosen_device d;
  d.threads = request.threads;
  if (request.threads > 0) return d;
  const core_share share = share_cores(s, drives_gpu);
  d.threads = share.threads;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (share.of_node > 0 && share.of_node < cores)
    spdlog::info("the ranks on {} are bound to {} of its {} cores; `mpirun --bind-to none` lets them use all", s.host(),
                 share.of_node, cores);
  return d;
}

/// Where CUDA rejects the one GPU that was made visible, all that it sees.
std::vector<gpu> find_gpus(std::string* why_none) {
  await_gpus();
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
    throw failure(
        exit_status::usage,
        fmt::format(
            "{} ranks on {} have the same GPU ({}, {}); start one rank per GPU, or allow sharing with --share-gpu",
            sharers, s.host(), own.name, uuid_text(own.uuid)));
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

/// Starts to open the GPU's context, which takes 0.1 s or more, while headers and masks are read. Errors are reported
/// to the first user of the GPU.
void open_context(const device& d) {
  static std::future<void> opening;  // if the GPU was never used, the end of the process waits for it
  opening = std::async(std::launch::async, [d] {
    try {
      free_device_bytes(d);
    } catch (const device_error&) {
    }
  });
}

/// --backend mixed.
chosen_device gpu_or_cores(const session& s, const run_request& request) {
  std::string why_none;
  std::vector<gpu> gpus;
  s.agree([&] { gpus = find_gpus(&why_none); });
  const std::size_t place = first_free(s, gpus);
  const bool has_gpu = place < gpus.size();
  std::array<int, 2> ranks{has_gpu ? 1 : 0, has_gpu ? 0 : 1};
  s.all_reduce(reduction::sum, std::span<int>(ranks));
  if (ranks[0] == 0) {
    throw failure(exit_status::usage,
                  fmt::format("--backend mixed: {}; --backend cpu computes without a GPU", why_none));
  }
  if (s.is_root()) {
    spdlog::info("{} ranks compute on GPUs, {} on CPU cores: rounding differs with the device that computed a voxel",
                 ranks[0], ranks[1]);
  }
  chosen_device d = cpu_device(s, request, has_gpu);
  d.among_others = true;
  if (!has_gpu) return d;
  d.threads = device{}.threads;
  d.kind = backend::cuda;
  d.cuda_ordinal = gpus[place].ordinal;
  s.note_stage("GPU chosen");
  open_context(d);
  return d;
}

}  // namespace

chosen_device choose_device(const session& s, const run_request& request) {
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
    throw failure(exit_status::usage, fmt::format("--backend {}: {}; --backend cpu computes without a GPU",
                                                  is_automatic ? "auto" : "cuda", why_none));
  });
  chosen_device d;
  d.kind = backend::cuda;
  d.threads = request.threads > 0 ? request.threads : share_cores(s).threads;  // for what is prepared on the host
  const gpu& own = gpus[static_cast<std::size_t>(s.node_rank()) % gpus.size()];
  d.cuda_ordinal = own.ordinal;
  if (!request.share_gpu) check_not_shared(s, own);
  s.note_stage("GPU chosen");
  open_context(d);
  return d;
}

void refuse_mixed(const run_request& request) {
  if (request.backend == backend_choice::mixed) {
    throw failure(exit_status::usage,
                  "--backend mixed is for tensor, ballstick and perfusion; here use --backend cuda or --backend cpu");
  }
}

device choose_device_of_one_kind(const session& s, const run_request& request) {
  refuse_mixed(request);
  return choose_device(s, request);
}

device_hooks hooks_for(const chosen_device& d) {
  device_hooks hooks;
  const bool cuda = d.kind == backend::cuda;
  hooks.kind = d.among_others ? "mixed" : cuda ? "cuda" : "cpu";
  hooks.record = {"cpu", d.threads, "", ""};
  if (cuda) {
    for (const gpu& g : visible_gpus()) {
      if (g.ordinal == d.cuda_ordinal) hooks.record = {"cuda", 0, g.name, uuid_text(g.uuid)};
    }
    hooks.free_bytes = free_device_bytes(d);
  }
  hooks.enter_thread = [d = device(d)] {
    use_device(d);
    omp_set_num_threads(d.threads);
  };
  hooks.allocate = [d = device(d)](std::size_t bytes) {
    const auto buffer = std::make_shared<host_buffer>(d, bytes);
    return std::shared_ptr<std::byte>(buffer, buffer->data());
  };
  hooks.peak_bytes = [cuda] { return cuda ? peak_device_bytes() : 0; };
  return hooks;
}

}  // namespace voxherd
