#include "src/tools/slurm/job_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "core/command_line.hpp"
#include "core/option_values.hpp"

namespace voxherd {

namespace {

bool names(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.compare(0, option.size() + 1, option + "=") == 0;
  });
}

/// The analysis and its words, checked as the batch job will check them.
void read_analysis(const arguments& args, slurm_job& job) {
  if (!args.has("analysis"))
    option::refuse("slurm: which analysis? usage: voxherd slurm ANALYSIS [its options] --nodes N --time H:MM:SS");
  std::vector<std::string> words = args.get<std::vector<std::string>>("analysis");
  job.what = &find_command(all_commands(), words.front());
  if (!makes_result(*job.what))
    option::refuse(
        fmt::format("slurm {}: expected a command that computes, such as tensor or ballstick", words.front()));
  words.erase(words.begin());
  if (names(words, "--dry-run"))
    option::refuse("--dry-run is not for a batch script; it is done now, for the estimate");
  words.erase(std::remove(words.begin(), words.end(), "--resume"), words.end());
  job.words = words;
  words.push_back("--resume");
  job.analysis = parse_command_line(*job.what, words);
}

void read_nodes(const arguments& args, slurm_job& job) {
  const bool cpu = job.analysis.get<std::string>("backend") == "cpu";
  job.device = cpu ? job_device::cpu : job_device::gpu;
  job.nodes = option::integer(args, "nodes", 1, 100000);
  if (cpu) option::refuse_given(args, "gpus-per-node", "with --backend cpu");
  job.gpus_per_node = cpu ? 0 : option::integer(args, "gpus-per-node", 1, 64);
  const auto or_else = [&](const char* name, long long most, long long standard) {
    return args.has(name) ? option::integer(args, name, 1, most) : standard;
  };
  job.ranks_per_node = or_else("ranks-per-node", 4096, cpu ? 2 : job.gpus_per_node);
  job.cpus_per_rank = or_else("cpus-per-rank", 4096, cpu ? 32 : 8);
  if (!cpu && job.ranks_per_node > job.gpus_per_node && !job.analysis.get<bool>("share-gpu"))
    option::refuse(fmt::format("--ranks-per-node {} on --gpus-per-node {}: one rank a GPU, or several with --share-gpu",
                               job.ranks_per_node, job.gpus_per_node));
  if (!cpu && job.ranks_per_node < job.gpus_per_node)
    option::refuse(
        fmt::format("--ranks-per-node {} on --gpus-per-node {}: GPUs without a rank compute nothing; give the "
                    "same number",
                    job.ranks_per_node, job.gpus_per_node));
}

void read_limits(const arguments& args, slurm_job& job) {
  job.signal_before_s = option::integer(args, "signal-before", 10, 65535);
  job.most_restarts = option::integer(args, "most-restarts", 0, 1000);
  job.gpu_threads = option::number(args, "gpu-threads", 1, 100000);
  if (args.has("time")) {
    job.time_s = slurm_seconds(args.get<std::string>("time"));
    if (job.time_s <= job.signal_before_s)
      option::refuse(
          fmt::format("--time {}: no longer than --signal-before {} s; the job would be stopped as it begins",
                      args.get<std::string>("time"), job.signal_before_s));
  }
  if (!args.has("mem")) return;
  job.memory = args.get<std::string>("mem");
  static const std::regex size("[0-9]+[KMGT]?");
  if (!std::regex_match(job.memory, size))
    option::refuse_word("mem", job.memory, "a number with K, M, G or T, such as 64G; 0 is all that the node has");
}

/// Words that go into an #SBATCH line or a command as they are.
std::string plain_word(const arguments& args, const char* name) {
  const std::string word = args.has(name) ? args.get<std::string>(name) : "";
  if (word.find_first_of(" \t\n\r\"'`$\\;&|<>#") != std::string::npos)
    option::refuse_word(name, word, "a name without blanks, quotes and the shell's own signs");
  return word;
}

}  // namespace

void add_job_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("analysis", po::value<std::vector<std::string>>()->value_name("WORD"), "the analysis, and each word of its options")
    ("script", option::file(), "write the script to FILE instead of standard output")
    ("nodes", option::whole(1)->value_name("N"), "nodes, 1 to 100000")
    ("gpus-per-node", option::whole(4)->value_name("N"), "GPUs of a node, 1 to 64; none with --backend cpu")
    ("ranks-per-node", option::whole_by_others("a GPU each; 2")->value_name("N"), "ranks, 1 to 4096; 2 with --backend cpu")
    ("cpus-per-rank", option::whole_by_others("8; 32")->value_name("N"), "cores of a rank, 1 to 4096; 32 with --backend cpu")
    ("exclusive", po::bool_switch(), "let no other job on the nodes")
    ("time", po::value<std::string>()->value_name("TIME"), "limit as sbatch writes it, e.g. 1:00:00; else from the estimate")
    ("mem", po::value<std::string>()->value_name("SIZE"), "memory of a node, e.g. 64G; else from the estimate")
    ("launcher", option::text("srun")->value_name("KIND"), "srun or mpirun")
    ("mpi", option::text("pmix")->value_name("KIND"), "srun's --mpi")
    ("signal-before", option::whole(120)->value_name("S"), "seconds before the limit to stop, 10 to 65535")
    ("most-restarts", option::whole(10)->value_name("N"), "times a stopped job is put in the queue again, 0 to 1000")
    ("gpu-threads", option::real(100, "100")->value_name("N"),
     "for the estimate: CPU threads of this machine that a GPU is as fast as, 1 to 100000")
    ("slurm-partition", po::value<std::string>()->value_name("NAME"), "the site's partition")
    ("account", po::value<std::string>()->value_name("NAME"), "whom the site charges")
    ("module", po::value<std::vector<std::string>>()->value_name("NAME"), "module to load; may be given again")
    ("job-name", option::text("voxherd")->value_name("NAME"), "what the queue calls the job")
    ("program", option::file(), "voxherd on the nodes; else the one that prints this");
  // clang-format on
}

std::vector<std::string> words_of_analysis_apart(const std::vector<std::string>& words) {
  po::options_description own;
  add_job_options(own);
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const po::option_description* found =
        word.compare(0, 2, "--") == 0 ? own.find_nothrow(word.substr(2, equals - 2), false) : nullptr;
    if (found == nullptr) {
      ours.push_back("--analysis=" + word);
    } else {
      ours.push_back(word);
      const bool takes_next = equals == std::string::npos && found->semantic()->min_tokens() > 0;
      if (takes_next && i + 1 < words.size()) ours.push_back(words[++i]);
    }
  }
  return ours;
}

slurm_job read_job(const arguments& args) {
  slurm_job job;
  read_analysis(args, job);
  read_nodes(args, job);
  read_limits(args, job);
  job.launcher =
      option::word<launcher_kind>(args, "launcher", {{"srun", launcher_kind::srun}, {"mpirun", launcher_kind::mpirun}});
  if (job.launcher == launcher_kind::mpirun) option::refuse_given(args, "mpi", "with --launcher mpirun");
  job.exclusive = args.get<bool>("exclusive");
  job.slurm_partition = plain_word(args, "slurm-partition");
  job.account = plain_word(args, "account");
  job.mpi = args.has("mpi") ? plain_word(args, "mpi") : "pmix";
  job.job_name = args.has("job-name") ? plain_word(args, "job-name") : "voxherd";
  if (args.has("module")) job.modules = args.get<std::vector<std::string>>("module");
  job.program =
      args.has("program") ? args.get<std::string>("program") : std::filesystem::read_symlink("/proc/self/exe").string();
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
    option::refuse_word("time", text, "minutes, M:SS, H:MM:SS, D-H, D-H:MM or D-H:MM:SS, as sbatch takes them");
  return seconds;
}

std::string slurm_time(long long seconds) {
  const long long days = seconds / 86400, rest = seconds % 86400;
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

}  // namespace voxherd
