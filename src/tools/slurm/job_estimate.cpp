#include "src/tools/slurm/job_estimate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "mpi/run/progress.hpp"
#include "mpi/run/summary.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

namespace {

constexpr double spare_time = 1.5, spare_memory = 1.25;
constexpr double overhead_s = 600;  // starting ranks, reading inputs, a slow file system
constexpr double cuda_bytes = 1e9;  // a CUDA context and its pinned buffers; 0.4 GB was measured

/// Seconds that one CPU thread of this machine would take.
double thread_seconds(const run_estimate& e) { return e.seconds * e.ranks * std::max(1, e.device.threads); }

job_estimate scale_to_job(const slurm_job& job, const run_estimate& found) {
  const bool gpu = job.device == job_device::gpu;
  const auto ranks = static_cast<double>(job.ranks_per_node), nodes = static_cast<double>(job.nodes);
  const double threads =
      gpu ? static_cast<double>(job.gpus_per_node) * job.gpu_threads : ranks * static_cast<double>(job.cpus_per_rank);
  job_estimate e;
  e.found = found;
  e.seconds = thread_seconds(found) / (nodes * threads);
  const double bytes_per_rank = found.process_bytes + (gpu ? found.gpu_batch_bytes + cuda_bytes : found.batch_bytes);
  e.bytes_per_node = ranks * bytes_per_rank + found.node_bytes;
  e.disk_bytes = found.disk_bytes;
  return e;
}

}  // namespace

std::optional<job_estimate> estimate_job(session& s, const slurm_job& job, std::string& why_none) {
  std::optional<run_estimate> found;
  const run_listener listener{[&](const run_estimate& e) { found = e; }, nullptr, false};
  run_request& run = *job.analysis->run_options();
  const run_request as_given = run;
  run.listener = &listener;
  run.dry_run = true;
  run.backend = backend_choice::cpu;
  run.threads = 0;
  run.quiet = true;
  why_none = "the result is already complete";
  try {
    job.analysis->run(s);
  } catch (const failure& f) {
    if (f.status != exit_status::missing_input) throw;
    why_none = f.what();
  }
  run = as_given;
  if (!found) return std::nullopt;
  return scale_to_job(job, *found);
}

void settle_limits(slurm_job& job, const std::optional<job_estimate>& estimate, const std::string& why_none) {
  if (job.time_s == 0) {
    if (!estimate)
      option::refuse(
          fmt::format("--time is missing, and cannot be estimated: {}; or give it, e.g. --time 1:00:00", why_none));
    const double wanted = estimate->seconds * spare_time + overhead_s + static_cast<double>(job.signal_before_s);
    job.time_s = static_cast<long long>(std::ceil(wanted / 600) * 600);
  }
  if (!job.memory.empty()) return;
  if (job.exclusive) {
    job.memory = std::to_string(0);  // sbatch: all memory of the node
  } else if (estimate) {
    job.memory = fmt::format("{:.0f}G", std::ceil(estimate->bytes_per_node * spare_memory / 1073741824.0) + 1);
  }
}

std::vector<std::string> estimate_lines(const slurm_job& job, const std::optional<job_estimate>& estimate,
                                        const std::string& why_none) {
  if (!estimate) return {fmt::format("No estimate of time and memory: {}", why_none)};
  const run_estimate& f = estimate->found;
  const bool gpu = job.device == job_device::gpu;
  std::vector<std::string> lines{
      fmt::format("Estimate of {}: {}; {} of them took {:.3g} s on {} of the machine that printed this.", f.analysis,
                  counted(f.items, f.item), f.probed_items, f.probe_seconds, describe(f.device))};
  for (const later_step& l : f.later)
    lines.push_back(fmt::format("  with {}{}: {}", l.is_bound ? "at most " : "", l.name, l.from));
  lines.push_back(
      fmt::format("  time    about {} of computation on {}", clock_time(estimate->seconds),
                  gpu ? fmt::format("{} GPUs, if each is as fast as {:g} such threads (--gpu-threads)",
                                    job.nodes * job.gpus_per_node, job.gpu_threads)
                      : fmt::format("{} such threads", job.nodes * job.ranks_per_node * job.cpus_per_rank)));
  lines.push_back(fmt::format("  memory  at most {} per node (all {} ranks)", readable_bytes(estimate->bytes_per_node),
                              job.ranks_per_node));
  lines.push_back(fmt::format("  disk    {}", readable_bytes(estimate->disk_bytes)));
  const double usable = static_cast<double>(job.time_s - job.signal_before_s);
  if (estimate->seconds > usable) {
    const double times = std::ceil(estimate->seconds / usable) - 1;
    lines.push_back(
        fmt::format("  longer than --time: it will be stopped, requeued and resumed about {:.0f} times{}", times,
                    times > static_cast<double>(job.max_restarts) ? ", more than --max-restarts allows" : ""));
  }
  return lines;
}

}  // namespace voxherd
