#include "src/batch/slurm/job_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "core/command_line.hpp"
#include "core/own_program.hpp"
#include "src/analyses/common/output_options.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

namespace {

bool names(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.compare(0, option.size() + 1, option + "=") == 0;
  });
}

/// Reads the analysis and its options, with the same checks as in the batch job.
void read_analysis(slurm_job& job) {
  std::vector<std::string> words = job.analysis;
  job.what = &find_command(all_commands(), words.front());
  if (!makes_result(*job.what))
    refuse_usage("slurm {}: expected a command that writes a result, such as tensor or ballstick", words.front());
  words.erase(words.begin());
  if (names(words, "--dry-run"))
    refuse_usage("--dry-run cannot be used in a batch script; slurm runs one itself for the estimate");
  words.erase(std::remove(words.begin(), words.end(), "--resume"), words.end());
  job.words = words;
  words.push_back("--resume");
  const given_options given = parse_command_line(*job.what, words);
  job.files = list_kept_files(*job.what, given);
  job.has_threads = given.has("threads");
  job.prepared = job.what->prepare(given);
}

void read_nodes(slurm_job& job) {
  const run_request& run = *job.prepared->run_options();
  const bool cpu = run.backend == backend_choice::cpu;
  job.device = cpu ? job_device::cpu : job_device::gpu;
  if (cpu) job.gpus_per_node = 0;
  job.ranks_per_node = job.ranks_per_node.value_or(cpu ? 2 : job.gpus_per_node);
  job.cpus_per_rank = job.cpus_per_rank.value_or(cpu ? 32 : 8);
  if (!cpu && job.ranks_per_node > job.gpus_per_node && !run.share_gpu)
    refuse_usage("--ranks-per-node {} on --gpus-per-node {}: expected one rank per GPU, or --share-gpu",
                 *job.ranks_per_node, job.gpus_per_node);
  if (!cpu && job.ranks_per_node < job.gpus_per_node)
    refuse_usage("--ranks-per-node {} on --gpus-per-node {}: GPUs without a rank compute nothing; give the same number",
                 *job.ranks_per_node, job.gpus_per_node);
}

void read_limits(slurm_job& job) {
  if (job.time.empty()) return;
  job.time_s = slurm_seconds(job.time);
  if (job.time_s <= job.signal_before_s)
    refuse_usage("--time {}: not longer than --signal-before {} s; the job would be stopped when it starts", job.time,
                 job.signal_before_s);
}

/// Words that are copied unchanged into an #SBATCH line or a command.
std::string parse_plain(const std::string& word, const char* option) {
  if (word.find_first_of(" \t\n\r\"'`$\\;&|<>#()[]{}*?!~") != std::string::npos)
    refuse_usage("--{} {}: expected a name without blanks, quotes and special characters of the shell", option, word);
  return word;
}

std::string parse_memory(const std::string& text, const char* option) {
  static const std::regex size("[0-9]+[KMGT]?");
  if (!std::regex_match(text, size))
    refuse_usage("--{} {}: expected a number with K, M, G or T, such as 64G; 0 is all memory of the node", option,
                 text);
  return text;
}

void check_request(const slurm_request& request, const given_options& given) {
  const slurm_job job = make_job(request);
  if (job.device == job_device::cpu) option::refuse_given(given, "gpus-per-node", "with --backend cpu");
}

}  // namespace

const option_table<slurm_request>& slurm_options() {
  using T = slurm_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"analysis", &T::analysis, text_kind::any,
       {.text = "the analysis, and each word of its options; --analysis itself may be left out", .value = "ANALYSIS",
        .required = true, .place = 1}}})
    .group("Job", {
      {"nodes", &T::nodes, range{1, 100000}, {"number of nodes"}},
      {"gpus-per-node", &T::gpus_per_node, range{1, 64}, {"GPUs per node; none with --backend cpu"}},
      {"ranks-per-node", &T::ranks_per_node, range{1, 4096},
       {.text = "ranks per node", .standard = "one per GPU; --backend cpu: 2"}},
      {"cpus-per-rank", &T::cpus_per_rank, range{1, 4096},
       {.text = "cores per rank", .standard = "8; --backend cpu: 32"}},
      {"exclusive", &T::exclusive, {"keep other jobs off the nodes"}},
      {"time", &T::time, text_kind::any,
       {.text = "time limit in the form of sbatch, e.g. 1:00:00", .value = "TIME", .standard = "from the estimate"}},
      {"mem", &T::memory, parse_memory,
       {.text = "memory per node, e.g. 64G", .value = "SIZE", .standard = "from the estimate"}},
      {"launcher", &T::launcher, {{"srun", launcher_kind::srun}, {"mpirun", launcher_kind::mpirun}},
       {"program that starts the ranks"}},
      {"mpi", &T::mpi, parse_plain, {.text = "MPI type of srun (its --mpi)", .value = "KIND", .needs = "launcher=srun"}},
      {"signal-before", &T::signal_before_s, range{10, 65535},
       {.text = "time before the job's limit at which it is signalled to stop", .unit = "s", .paper = true}},
      {"max-restarts", &T::max_restarts, range{0, 1000}, {.text = "largest number of times that a stopped job is requeued", .paper = true}},
      {"gpu-threads", &T::gpu_threads, range{1, 100000},
       {.text = "for the estimate: CPU threads of this machine that are as fast as one GPU", .paper = true}},
      {"slurm-partition", &T::slurm_partition, parse_plain, {.text = "the site's partition", .value = "NAME"}},
      {"account", &T::account, parse_plain, {.text = "the account to charge", .value = "NAME"}},
      {"module", &T::modules, text_kind::any, {.text = "module to load", .value = "NAME"}},
      {"job-name", &T::job_name, parse_plain, {.text = "name of the job in the queue", .value = "NAME"}},
      {"program", &T::program, text_kind::file,
       {.text = "name of the voxherd program on the nodes", .standard = "the one that prints the script"}}})
    .group("Output", {
      {"script", &T::script, text_kind::file, {"write the script to FILE instead of standard output"}},
      {"overwrite-script", &T::overwrite_script, {"replace the file of --script if it exists"}}})
    .check(check_request);
  // clang-format on
  return table;
}

std::vector<std::string> words_of_analysis_apart(const std::vector<std::string>& words) {
  const auto& own = slurm_options().specs();
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const auto found = std::find_if(own.begin(), own.end(), [&](const option_spec& spec) {
      return word.compare(0, 2, "--") == 0 && word.substr(2, equals - 2) == spec.name;
    });
    if (found == own.end()) {
      ours.push_back("--analysis=" + word);
    } else {
      ours.push_back(word);
      const bool takes_next = equals == std::string::npos && found->takes_value();
      if (takes_next && i + 1 < words.size()) ours.push_back(words[++i]);
    }
  }
  return ours;
}

slurm_job make_job(const slurm_request& request) {
  slurm_job job{request};
  read_analysis(job);
  read_nodes(job);
  read_limits(job);
  if (job.program.empty()) job.program = own_program().string();
  job.folder = std::filesystem::current_path().string();
  return job;
}

long long slurm_seconds(const std::string& text) {
  static const std::regex with_days("([0-9]{1,4})-([0-9]{1,2})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?");
  static const std::regex without("([0-9]{1,6})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?");
  const auto value = [](const std::ssub_match& m) { return m.matched ? std::stoll(m.str()) : 0; };
  std::smatch m;
  long long seconds = 0;
  if (std::regex_match(text, m, with_days)) {
    seconds = ((value(m[1]) * 24 + value(m[2])) * 60 + value(m[3])) * 60 + value(m[4]);
  } else if (std::regex_match(text, m, without)) {
    // Two numbers are minutes and seconds, three begin with hours.
    seconds = m[3].matched ? (value(m[1]) * 60 + value(m[2])) * 60 + value(m[3]) : value(m[1]) * 60 + value(m[2]);
  }
  if (seconds == 0)
    refuse_usage("--time {}: expected minutes, M:SS, H:MM:SS, D-H, D-H:MM or D-H:MM:SS, as sbatch accepts them", text);
  return seconds;
}

std::string slurm_time(long long seconds) {
  const long long days = seconds / 86400, rest = seconds % 86400;
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

}  // namespace voxherd
