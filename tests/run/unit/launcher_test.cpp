#include "mpi/comm/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

#include "mpi/comm/mpi_start.hpp"
#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

variable_reader environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

using variables = std::map<std::string, std::string>;

const variables srun_without_pmi{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}};

TEST(Launcher, StartsRanks) {
  for (const char* const of_a_rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID"})
    EXPECT_TRUE(is_one_of_ranks(environment({{of_a_rank, "0"}}))) << of_a_rank;
  EXPECT_TRUE(is_one_of_ranks(environment(srun_without_pmi)));
}

TEST(Launcher, IsNoneInAShellOfAJob) {
  EXPECT_FALSE(is_one_of_ranks(environment({})));
  EXPECT_FALSE(is_one_of_ranks(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})));
  EXPECT_FALSE(is_one_of_ranks(environment({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})));
  EXPECT_FALSE(is_one_of_ranks(environment({{"OMPI_MCA_btl", "self"}, {"PMIX_MCA_gds", "hash"}})));
}

TEST(Launcher, TheOnlyRankOfAJobIsAlone) {
  EXPECT_FALSE(is_one_of_ranks(environment({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})));
  EXPECT_FALSE(is_one_of_ranks(environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})));
  const variables srun{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_FALSE(is_one_of_ranks(environment(srun)));
}

TEST(Launcher, TasksOfAnotherLauncherOrOfOnePartOfAJobAreNotAllRanks) {
  // A daemon that srun started once has started the ranks.
  const variables prun{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "prte-n1-5@1"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_TRUE(is_one_of_ranks(environment(prun)));
  EXPECT_EQ(launched_processes(environment(prun)), 0);
  const variables part{
      {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_HET_SIZE", "2"}};
  EXPECT_TRUE(is_one_of_ranks(environment(part)));
}

TEST(Launcher, NamesRankAndCount) {
  EXPECT_EQ(launched_rank(environment({{"OMPI_COMM_WORLD_RANK", "3"}, {"SLURM_PROCID", "0"}})), 3);
  EXPECT_EQ(launched_processes(environment({{"OMPI_COMM_WORLD_SIZE", "5"}, {"SLURM_STEP_NUM_TASKS", "2"}})), 5);
  EXPECT_EQ(launched_processes(environment({})), 0);
  EXPECT_EQ(launched_processes(environment(srun_without_pmi)), 4);
}

TEST(Launcher, OnlyRanksOfMpiAreLaterOnes) {
  EXPECT_TRUE(is_later_rank(environment({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}})));
  EXPECT_FALSE(is_later_rank(environment({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "3"}})));
  EXPECT_FALSE(is_later_rank(environment(srun_without_pmi)));
}

TEST(MpiStart, IsDoubtedForTasksOfSrunWithoutPmix) {
  EXPECT_NE(doubt_about_mpi(environment(srun_without_pmi)).find("srun --mpi=pmix"), std::string::npos);
  variables other = srun_without_pmi;
  other["PMI_RANK"] = "1";  // srun --mpi=pmi2: a library without it ends the process
  EXPECT_NE(doubt_about_mpi(environment(other)), "");
  variables pmix = srun_without_pmi;
  pmix["PMIX_RANK"] = "1";
  pmix["PMIX_NAMESPACE"] = "slurm.pmix.7.0";
  EXPECT_EQ(doubt_about_mpi(environment(pmix)), "");
  variables under_mpirun = srun_without_pmi;
  under_mpirun["OMPI_COMM_WORLD_RANK"] = "1";
  under_mpirun["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_EQ(doubt_about_mpi(environment(under_mpirun)), "");
}

TEST(MpiStart, OfASecondProcessOfARankIsRefused) {
  const voxherd::testing::scratch_folder folder;
  const variables rank{{"PMIX_SERVER_TMPDIR", folder.path()}, {"PMIX_NAMESPACE", "7"}, {"PMIX_RANK", "1"}};
  variables other = rank;
  other["PMIX_RANK"] = "2";
  EXPECT_NO_THROW(claim_mpi_start(environment(rank)));
  EXPECT_NO_THROW(claim_mpi_start(environment(other)));
  EXPECT_THROW(claim_mpi_start(environment(rank)), failure);
  EXPECT_NO_THROW(claim_mpi_start(environment({})));
}

}  // namespace
}  // namespace voxherd
