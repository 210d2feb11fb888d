#include "mpi/comm/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

namespace voxherd {
namespace {

variable_reader environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Launcher, StartsRanks) {
  for (const char* const of_a_rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID"})
    EXPECT_TRUE(started_by_launcher(environment({{of_a_rank, "0"}}))) << of_a_rank;
  EXPECT_TRUE(started_by_launcher(environment({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}})));
}

TEST(Launcher, IsNoneInAShellOfAJob) {
  EXPECT_FALSE(started_by_launcher(environment({})));
  EXPECT_FALSE(started_by_launcher(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})));
  EXPECT_FALSE(started_by_launcher(environment({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})));
  EXPECT_FALSE(started_by_launcher(environment({{"OMPI_MCA_btl", "self"}, {"PMIX_MCA_gds", "hash"}})));
}

TEST(Launcher, NamesRankAndCount) {
  EXPECT_EQ(launched_rank(environment({{"OMPI_COMM_WORLD_RANK", "3"}, {"SLURM_PROCID", "0"}})), 3);
  EXPECT_EQ(launched_processes(environment({{"OMPI_COMM_WORLD_SIZE", "5"}, {"SLURM_STEP_NUM_TASKS", "2"}})), 5);
  EXPECT_EQ(launched_processes(environment({})), 0);
}

}  // namespace
}  // namespace voxherd
