#include "src/tools/slurm/job_script.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/shell_words.hpp"
#include "core/version.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

namespace {

constexpr std::size_t line_width = 116;

/// A script of slurm/ without its head and without the arguments of its own analysis.
struct script_parts {
  std::string srun;    ///< of its head: `srun=(srun --mpi=pmix ...)` with its comment, "" if missing
  std::string before;  ///< between its arguments and the launch
  std::string launch;  ///< `"${srun[@]}" "$voxherd"`
  std::string ending;  ///< ` || rc=$?`
  std::string after;
};

[[noreturn]] void unknown_script(const std::string& what) {
  throw failure(exit_status::internal_error, fmt::format("the script built into this program has no {}", what));
}

std::size_t require(std::size_t at, const std::string& what) {
  if (at == std::string::npos) unknown_script(what);
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
  std::size_t end = words;  // of the command: the first line without a backslash at its end
  do {
    end = require(text.find('\n', end + 1), "end of what it launches");
  } while (text[end - 1] == '\\');
  const std::size_t last = require(text.rfind(result, end), "\"$result\" in what it launches") + result.size();
  if (last < words) unknown_script("\"$result\" in what it launches");
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

std::string head(const slurm_job& job, const std::string& srun) {
  const bool gpu = job.device == job_device::gpu;
  std::string text = "\n# Site settings: partition, account, time limit, resources.\n";
  text += directive("partition", job.slurm_partition) + directive("account", job.account);
  text += directive("chdir", job.folder.find_first_of(" \t\"'") == std::string::npos ? job.folder : "");
  text += directive("job-name", job.job_name) + directive("nodes", std::to_string(job.nodes));
  text += directive("ntasks-per-node", std::to_string(job.ranks_per_node));
  if (gpu) text += directive("gres", fmt::format("gpu:{}", job.gpus_per_node));
  text += directive("cpus-per-task", std::to_string(job.cpus_per_rank));
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
  if (job.device == job_device::gpu && job.analysis->run_options()->backend == backend_choice::automatic)
    words.insert(words.end(), {"--backend", "cuda"});
  if (job.device == job_device::cpu && !job.has_threads)
    words.insert(words.end(), {"--threads", "\"$SLURM_CPUS_PER_TASK\""});
  return words;
}

}  // namespace

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
  for (const std::string& line : comments) text += fmt::format("# {}\n", line);
  text += "\nset -u\n";
  // Since Slurm 22.05 srun does not inherit --cpus-per-task from the batch job.
  if (srun && f.before.find("SRUN_CPUS_PER_TASK") == std::string::npos)
    text += "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n";
  return text + f.before + wrap_words(f.launch, launched_words(job), f.ending) + f.after;
}

}  // namespace voxherd
