#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/escape.hpp"
#include "core/text.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/run.hpp"
#include "mpi/run/summary.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/batch/slurm/job_options.hpp"

namespace voxherd {

namespace {

/// Estimate of the job, from a dry run of the analysis on this machine's CPU.
struct job_estimate {
  double seconds = 0;         ///< time of computation on the job's nodes
  double bytes_per_node = 0;  ///< host memory, at most
  double disk_bytes = 0;
  run_estimate found;  ///< on this machine
};

constexpr double spare_time = 1.5, spare_memory = 1.25;
constexpr double overhead_s = 600;  // starting ranks, reading inputs, a slow file system
constexpr double cuda_bytes = 1e9;  // a CUDA context and its pinned buffers; 0.4 GB was measured

/// Seconds that one CPU thread of this machine would take.
double thread_seconds(const run_estimate& e) { return e.seconds * e.ranks * std::max(1, e.device.threads); }

job_estimate scale_to_job(const slurm_job& job, const run_estimate& found) {
  const bool gpu = job.device == job_device::gpu;
  const auto ranks = static_cast<double>(*job.ranks_per_node), nodes = static_cast<double>(job.nodes);
  const double threads =
      gpu ? static_cast<double>(job.gpus_per_node) * job.gpu_threads : ranks * static_cast<double>(*job.cpus_per_rank);
  job_estimate e;
  e.found = found;
  e.seconds = thread_seconds(found) / (nodes * threads);
  const double bytes_per_rank =
      found.process_bytes + found.kept_bytes + (gpu ? found.gpu_batch_bytes + cuda_bytes : found.batch_bytes);
  e.bytes_per_node = ranks * bytes_per_rank + found.node_bytes + found.root_bytes;
  e.disk_bytes = found.disk_bytes + found.result_bytes;
  return e;
}

/// Empty, with the reason in `why_none`, if an input cannot be read here or the result is already complete. Throws
/// failure if the job would fail for other reasons. Collective.
std::optional<job_estimate> estimate_job(session& s, const slurm_job& job, std::string& why_none) {
  std::optional<run_estimate> found;
  const run_listener listener{[&](const run_estimate& e) { found = e; }, nullptr, false};
  run_request& run = *job.prepared->run_options();
  const run_request as_given = run;
  run.listener = &listener;
  run.dry_run = true;
  run.backend = backend_choice::cpu;
  run.threads = 0;
  run.quiet = true;
  why_none = "the result is already complete";
  try {
    job.prepared->run(s);
  } catch (const failure& f) {
    if (f.status != exit_status::missing_input) throw;
    why_none = f.what();
  }
  run = as_given;
  if (!found) return std::nullopt;
  return scale_to_job(job, *found);
}

/// Sets the limits that were not given, time and memory, with a margin. Throws failure (usage), with `why_none`, if the
/// time is missing and there is no estimate.
void settle_limits(slurm_job& job, const std::optional<job_estimate>& estimate, const std::string& why_none) {
  if (job.time_s == 0) {
    if (!estimate)
      refuse_usage("--time is missing, and cannot be estimated: {}; or give it, e.g. --time 1:00:00", why_none);
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

/// The estimate as printed lines, without "# ".
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
                      : fmt::format("{} such threads", job.nodes * *job.ranks_per_node * *job.cpus_per_rank)));
  lines.push_back(fmt::format("  memory  at most {} per node (all {} ranks)", readable_bytes(estimate->bytes_per_node),
                              *job.ranks_per_node));
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

constexpr std::size_t line_width = 116;

/// A script of slurm/ without its head and without the arguments of its own analysis.
struct script_parts {
  std::string srun;    ///< line of its head: `srun=(srun --mpi=pmix ...)` with its comment, "" if missing
  std::string before;  ///< between its arguments and the launch
  std::string launch;  ///< `"${srun[@]}" "$voxherd"`
  std::string ending;  ///< ` || rc=$?`
  std::string after;
};

/// `at`, which a search in the script built into this program has found, and not before `first`.
std::size_t require(std::size_t at, const std::string& what, std::size_t first = 0) {
  if (at == std::string::npos || at < first)
    throw failure(exit_status::internal_error, fmt::format("the script built into this program has no {}", what));
  return at;
}

/// The line that begins with `srun=(`, and the comment above it.
std::string srun_line(const std::string& head) {
  const std::size_t line = head.find("\nsrun=(");
  if (line == std::string::npos) return "";
  std::size_t begin = line + 1;
  for (std::size_t above = head.rfind('\n', begin - 2) + 1; head[above] == '#' && head[above + 1] == ' ';
       above = head.rfind('\n', begin - 2) + 1)
    begin = above;
  return head.substr(begin, head.find('\n', line + 1) + 1 - begin);
}

script_parts parse_script(const std::string& text) {
  const std::string program = "\"$voxherd\"", result = "\"$result\"";
  const std::size_t arguments = require(text.rfind("\nresult="), "line `result=`");
  const std::size_t body = text.find('\n', arguments + 1) + 1;
  const std::size_t words = require(text.find(program, body), "line that launches \"$voxherd\"") + program.size();
  const std::size_t launch = text.rfind('\n', words) + 1;
  std::size_t end = words;  // end of the command: the first line without a backslash at its end
  do {
    end = require(text.find('\n', end + 1), "end of what it launches");
  } while (text[end - 1] == '\\');
  const std::size_t last = require(text.rfind(result, end), "\"$result\" in what it launches", words) + result.size();
  return {srun_line(text.substr(0, body)), text.substr(body, launch - body), text.substr(launch, words - launch),
          text.substr(last, end - last), text.substr(end)};
}

/// The words on as few lines as possible, continued by backslashes.
std::string wrap_words(const std::string& begin, const std::vector<std::string>& words, const std::string& ending) {
  std::string text = begin;
  std::size_t width = begin.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    // An option and its value stay on one line.
    const bool has_value = words[i].compare(0, 2, "--") == 0 && !is_last && words[i + 1].compare(0, 1, "-") != 0;
    std::string piece = words[i];
    if (has_value) piece += ' ' + words[++i];
    if (width + piece.size() + ending.size() + 3 > line_width) {
      text += " \\\n  " + piece;
      width = 2 + piece.size();
    } else {
      text += ' ' + piece;
      width += 1 + piece.size();
    }
  }
  return text + ending;
}

std::string directive(const std::string& name, const std::string& value) {
  return value.empty() ? fmt::format("# #SBATCH --{}=\n", name) : fmt::format("#SBATCH --{}={}\n", name, value);
}

/// Not in the value of an #SBATCH line.
constexpr const char* blanks_and_quotes = " \t\n\r\"'\\";

std::string head(const slurm_job& job, const std::string& srun) {
  const bool gpu = job.device == job_device::gpu;
  std::string text = "\n# Site settings: partition, account, time limit, resources.\n";
  text += directive("partition", job.slurm_partition) + directive("account", job.account);
  text += directive("chdir", job.folder.find_first_of(blanks_and_quotes) == std::string::npos ? job.folder : "");
  text += directive("job-name", job.job_name) + directive("nodes", std::to_string(job.nodes));
  text += directive("ntasks-per-node", std::to_string(*job.ranks_per_node));
  if (gpu) text += directive("gres", fmt::format("gpu:{}", job.gpus_per_node));
  text += directive("cpus-per-task", std::to_string(*job.cpus_per_rank));
  if (!gpu) text += directive("hint", "nomultithread");
  if (job.exclusive) text += "#SBATCH --exclusive\n";
  text += directive("mem", job.memory) + directive("time", slurm_time(job.time_s));
  // With mpirun the script receives the signal and passes it on; with srun the ranks receive it directly.
  text += directive("signal",
                    fmt::format("{}USR1@{}", job.launcher == launcher_kind::mpirun ? "B:" : "", job.signal_before_s));
  text += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text += fmt::format("voxherd=${{VOXHERD:-{}}}\nmax_restarts={}\n", quoted_word(job.program), job.max_restarts) + srun;
  if (job.modules.empty()) text += gpu ? "# module load openmpi hdf5 cuda\n" : "# module load openmpi hdf5\n";
  for (const std::string& name : job.modules) text += fmt::format("module load {}\n", quoted_word(name));
  return text;
}

std::vector<std::string> launched_words(const slurm_job& job) {
  std::vector<std::string> words{job.what->name};
  for (const std::string& word : job.words) words.push_back(quoted_word(word));
  words.push_back("--resume");
  // A node without working GPUs is an error, not a slow run.
  if (job.device == job_device::gpu && job.prepared->run_options()->backend == backend_choice::automatic)
    words.insert(words.end(), {"--backend", "cuda"});
  if (job.device == job_device::cpu && !job.has_threads)
    words.insert(words.end(), {"--threads", "\"$SLURM_CPUS_PER_TASK\""});
  return words;
}

/// The job's batch script. The lines that stop, requeue and resume the job are copied from the script in slurm/ for its
/// launcher; the head and the launched command are written for this job. `comments` are printed below the head.
std::string job_script(const slurm_job& job, const std::vector<std::string>& comments) {
  const bool srun = job.launcher == launcher_kind::srun;
  script_parts f = parse_script(srun ? srun_script : mpirun_script);
  if (srun) {
    const std::string standard = "--mpi=pmix";
    std::string& where = f.srun.empty() ? f.launch : f.srun;
    where.replace(require(where.find(standard), standard), standard.size(), "--mpi=" + job.mpi);
  }
  std::string text = fmt::format("#!/usr/bin/env bash\n# {} on {} node{}, printed by voxherd {}: sbatch THIS_FILE\n",
                                 job.what->name, job.nodes, job.nodes == 1 ? "" : "s", version);
  text += head(job, f.srun) + '\n';
  for (const std::string& line : comments) text += shell_comment(line) + "\n";
  text += "\nset -u\n";
  // Since Slurm 22.05 srun does not inherit --cpus-per-task from the batch job.
  if (srun && f.before.find("SRUN_CPUS_PER_TASK") == std::string::npos)
    text += "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n";
  return text + f.before + wrap_words(f.launch, launched_words(job), f.ending) + f.after;
}

/// About devices that the program cannot use, or that the computation does not need.
void warn_about_devices(const slurm_request& request, const slurm_job& job,
                        const std::optional<job_estimate>& estimate) {
  const bool gpu = job.device == job_device::gpu;
  if (gpu && request.program.empty() && !built_with_cuda())
    spdlog::warn(
        "the job asks for GPUs, but this program was built without CUDA and will fail there: give --backend cpu, or "
        "--program with one that was built with CUDA");
  constexpr double short_s = 60;
  const long long devices = job.nodes * (gpu ? job.gpus_per_node : 1);
  const double alone_s = estimate ? estimate->seconds * static_cast<double>(devices) : short_s;
  if (devices > 1 && alone_s < short_s)
    spdlog::warn("one {} would compute this in about {}; {} are asked for: give {}", gpu ? "GPU" : "node",
                 clock_time(alone_s), devices, gpu ? "--nodes 1 --gpus-per-node 1" : "--nodes 1");
}

exit_status run_slurm(session& s, const slurm_request& request) {
  slurm_job job = make_job(request);
  const named_output script{"--script", request.script, request.overwrite_script};
  s.on_root([&] { check_output(script, job.files); });
  std::string why_none;
  const auto estimate = estimate_job(s, job, why_none);
  s.on_root([&] {
    settle_limits(job, estimate, why_none);
    warn_about_devices(request, job, estimate);
    const auto lines = estimate_lines(job, estimate, why_none);
    const std::string text = job_script(job, lines);
    if (job.folder.find_first_of(blanks_and_quotes) != std::string::npos)
      spdlog::warn(
          "the name of the current folder has blanks or quotes, so that the script has no --chdir: submit it "
          "in this folder");
    if (request.script.empty()) {
      fmt::print("{}", text);
      return;
    }
    write_output(script, text);
    for (const std::string& line : lines) fmt::print(stderr, "{}\n", one_line(line));
  });
  return exit_status::complete;
}

}  // namespace

constexpr command make_slurm_command() {
  command c =
      make_command<slurm_options, run_slurm>({"slurm", "print a batch script with an estimate of time and memory",
                                              "voxherd slurm tensor --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
                                              "  --mask mask.nii.gz --out tensor.h5 --nodes 2 --time 1:00:00 \\\n"
                                              "  --script job.sh\n"
                                              "sbatch job.sh"});
  c.translate = words_of_analysis_apart;
  return run_by_first_rank(c);
}

extern const command slurm_command = make_slurm_command();

}  // namespace voxherd
