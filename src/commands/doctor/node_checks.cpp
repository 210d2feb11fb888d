#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "core/control_groups.hpp"
#include "core/main_memory.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "mpi/comm/launcher.hpp"
#include "src/commands/doctor/checks.hpp"
#include "src/scan/node_resources.hpp"

namespace voxherd {

namespace {

finding check_main_memory() {
  constexpr double needed = 4e9;  // what a rank may take (docs/commands/README.md), for one rank
  const main_memory memory = read_main_memory();
  std::string text = fmt::format("{} of {} available", readable_bytes(static_cast<double>(memory.available)),
                                 readable_bytes(static_cast<double>(memory.total)));
  if (memory.job_limit > 0)
    text += fmt::format(", this job may use {}", readable_bytes(static_cast<double>(memory.job_limit)));
  if (static_cast<double>(memory.usable()) >= needed) return {verdict::fine, "memory", text};
  return {verdict::advice, "memory", text + ": large images may not fit; --dry-run tells what a command needs"};
}

/// Ranks of a node exchange messages through /dev/shm.
finding check_shared_memory() {
  constexpr double needed = 64e6;
  struct statvfs disk {};
  if (statvfs("/dev/shm", &disk) != 0)
    return {verdict::problem, "/dev/shm",
            "does not exist: MPI cannot start several ranks on this node; mount a tmpfs there"};
  const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const std::string text = readable_bytes(free_bytes) + " free";
  if (free_bytes >= needed) return {verdict::fine, "/dev/shm", text};
  return {verdict::problem, "/dev/shm",
          text + ": too little for several ranks; remove what stopped jobs left there (a container: --shm-size=1g)"};
}

struct limit {
  int resource;
  const char* name;       ///< name of bash's ulimit
  double needed;          ///< 0: unlimited
  const char* otherwise;  ///< what happens below it
};

/// What is wrong with the number of threads that a run on all cores may start.
std::optional<finding> check_threads() {
  const int cores = usable_cores(), needed = threads_of_run(cores), possible = count_startable_threads(needed);
  if (possible >= needed) return std::nullopt;
  const std::string text = fmt::format("only {} more threads can be started ({})", possible, thread_limits_text());
  if (possible < threads_of_run(1))
    return finding{verdict::problem, "limits", text + ": analyses may end with status 70; raise the limit"};
  return finding{verdict::advice, "limits",
                 fmt::format("{}: analyses compute with {} threads on {} cores; raise the limit", text,
                             std::min(possible_team(possible), cores), cores)};
}

findings check_limits() {
  constexpr std::array limits{
      limit{RLIMIT_FSIZE, "-f (file size)", 0, "larger results end with status 74; ulimit -f unlimited"},
      limit{RLIMIT_AS, "-v (address space)", 0, "CUDA and parallel HDF5 need much of it; ulimit -v unlimited"},
      limit{RLIMIT_NOFILE, "-n (open files)", 512, "many ranks and masks need more; ulimit -n 4096"},
      limit{RLIMIT_STACK, "-s (stack)", 4e6, "deep calls of libraries may crash; ulimit -s 8192"}};
  findings all;
  for (const limit& l : limits) {
    rlimit own{};
    if (getrlimit(static_cast<__rlimit_resource>(l.resource), &own) != 0 || own.rlim_cur == RLIM_INFINITY) continue;
    const auto value = static_cast<double>(own.rlim_cur);
    if (l.needed > 0 && value >= l.needed) continue;
    all.push_back({verdict::advice, "limits", fmt::format("ulimit {} is {}: {}", l.name, own.rlim_cur, l.otherwise)});
  }
  rlimit locked{};
  const bool has_fabric = std::filesystem::exists("/sys/class/infiniband");
  if (has_fabric && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY) {
    all.push_back({verdict::advice, "limits",
                   fmt::format("ulimit -l (locked memory) is {} bytes: InfiniBand needs unlimited (limits.conf, or "
                               "slurm.conf: PropagateResourceLimitsExcept=MEMLOCK)",
                               locked.rlim_cur)});
  }
  if (const auto threads = check_threads()) all.push_back(*threads);
  if (all.empty()) all.push_back({verdict::fine, "limits", "file size, address space, open files, stack, threads"});
  return all;
}

}  // namespace

findings check_memory() {
  findings all{check_main_memory(), check_shared_memory()};
  for (finding& f : check_limits()) all.push_back(std::move(f));
  return all;
}

namespace {

/// An integer of the environment; 0 if it is not set.
long environment_number(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

finding check_launcher(const session& s, const std::set<std::string>& hosts) {
  const long started = s.launched();
  const std::string text =
      fmt::format("{}, {} on {}", mpi_library(), counted(static_cast<std::uint64_t>(s.size()), "rank"),
                  counted(hosts.size(), "node"));
  if (started > s.size()) {
    return {verdict::problem, "MPI", fmt::format("{}, but {}", text, unconnected_text(started))};
  }
  return {verdict::fine, "MPI", text};
}

finding check_cores(const session& s) {
  const int usable = node_cores(s).count();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const bool in_job = environment_number("SLURM_JOB_ID") > 0;
  const std::string text = fmt::format("{} of the {} cores of {} may be used", usable, online, s.host());
  if (const double quota = read_control_groups().cpus; quota > 0 && quota <= usable)
    return {verdict::fine, "cores",
            fmt::format("{}: the control group (cpu.max) allows the time of {:.3g}", text, quota)};
  if (usable >= online || (in_job && s.size() == 1)) return {verdict::fine, "cores", text};
  return {verdict::advice, "cores",
          text + (in_job ? ": ask for more with --cpus-per-task, or bind less"
                         : ": mpirun --bind-to none lets ranks use all")};
}

/// Every rank must run the same program.
finding check_versions(const session& s, const std::vector<std::string>& of_ranks) {
  const std::set<std::string> versions(of_ranks.begin(), of_ranks.end());
  if (versions.size() <= 1) return {verdict::fine, "version", fmt::format("voxherd {}", version)};
  return {verdict::problem, "version",
          fmt::format("{} ranks run {} versions of voxherd ({}, {}): install one on all nodes", s.size(),
                      versions.size(), *versions.begin(), *versions.rbegin())};
}

}  // namespace

findings check_ranks(const session& s) {
  const std::vector<std::string> hosts = s.gather(s.host()), versions = s.gather(std::string(version));
  findings all{check_versions(s, versions), check_launcher(s, {hosts.begin(), hosts.end()})};
  all.push_back(check_cores(s));
  return all;
}

findings check_slurm(const session& s) {
  const long job = environment_number("SLURM_JOB_ID");
  if (job == 0) {
    if (is_in_path("sbatch")) return {{verdict::fine, "SLURM", "sbatch is here; `voxherd slurm` prints batch scripts"}};
    return {{verdict::fine, "SLURM", "not on this node"}};
  }
  const long tasks = environment_number("SLURM_NTASKS");
  if (tasks > s.size()) {
    return {{verdict::advice, "SLURM",
             fmt::format("job {} has {} tasks, this command {}: start it with srun or mpirun", job, tasks,
                         counted(static_cast<std::uint64_t>(s.size()), "rank"))}};
  }
  return {{verdict::fine, "SLURM", fmt::format("job {}", job)}};
}

}  // namespace voxherd
