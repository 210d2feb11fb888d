#include "src/tools/doctor/rank_checks.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/readable.hpp"
#include "core/version.hpp"
#include "src/scan/node_cores.hpp"

namespace voxherd {

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

/// Processes that a launcher started, as it says in the environment; 0 if there is none.
long started_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const long count = environment_number(name); count > 0) return count;
  return 0;
}

finding check_launcher(const session& s, const std::set<std::string>& hosts) {
  const long started = started_processes();
  const std::string text =
      fmt::format("{}, {} on {}", mpi_library(), counted(static_cast<std::uint64_t>(s.size()), "rank"),
                  counted(hosts.size(), "node"));
  if (started > s.size()) {
    return {verdict::problem, "MPI",
            fmt::format(
                "{}, but the launcher started {} processes, which do not know each other: use `srun --mpi=pmix`, or "
                "the mpirun of this MPI",
                text, started)};
  }
  return {verdict::fine, "MPI", text};
}

finding check_cores(const session& s) {
  const int usable = node_cores(s).count();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const bool in_job = environment_number("SLURM_JOB_ID") > 0;
  const std::string text = fmt::format("{} of the {} cores of {} may be used", usable, online, s.host());
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
