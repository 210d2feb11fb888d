#include "core/device_choice.hpp"

#include <gtest/gtest.h>

#include <map>

namespace voxherd {
namespace {

std::optional<int> launched(const std::map<std::string, std::string>& variables) {
  return launched_node_rank([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(GpuChoice, LaunchersNumberTheRanksOfANode) {
  EXPECT_EQ(launched({}), 0);
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_LOCAL_RANK", "3"}, {"PMIX_RANK", "7"}}), 3);
  EXPECT_EQ(launched({{"SLURM_LOCALID", "2"}, {"PMIX_RANK", "6"}}), 2);
  EXPECT_EQ(launched({{"MPI_LOCALRANKID", "1"}, {"PMI_RANK", "5"}}), 1);
}

TEST(GpuChoice, UnderMpirunInAJobTheNumberOfSlurmIsThatOfTheDaemon) {
  EXPECT_EQ(launched({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}}), 2);
  EXPECT_EQ(launched({{"SLURM_LOCALID", "0"}, {"MPI_LOCALRANKID", "3"}}), 3);
}

TEST(GpuChoice, NoNumberIsAssumedIfTheLauncherGivesNone) {
  EXPECT_EQ(launched({{"PMI_RANK", "0"}}), std::nullopt);
  EXPECT_EQ(launched({{"PMIX_RANK", "1"}}), std::nullopt);
  EXPECT_EQ(launched({{"SLURM_LOCALID", ""}}), std::nullopt);
  EXPECT_EQ(launched({{"SLURM_LOCALID", "-1"}}), std::nullopt);
}

TEST(GpuChoice, RanksTakeTheGpusOfTheNodeInTurn) {
  EXPECT_EQ(only_own_gpu({{}, 4, false}, 0), "0");
  EXPECT_EQ(only_own_gpu({{}, 4, false}, 3), "3");
  EXPECT_EQ(only_own_gpu({{}, 4, false}, 5), "1");
}

TEST(GpuChoice, OfAListOnlyItsEntriesAreTaken) {
  EXPECT_EQ(only_own_gpu({"2,0,3", 4, false}, 0), "2");
  EXPECT_EQ(only_own_gpu({"2,0,3", 4, false}, 2), "3");
  EXPECT_EQ(only_own_gpu({"2,0,3", 4, false}, 4), "0");
  EXPECT_EQ(only_own_gpu({"GPU-8f,GPU-1e", 0, false}, 1), "GPU-1e");
}

TEST(GpuChoice, NothingIsChangedIfOneGpuOrNoneIsVisible) {
  for (const std::string listed : {"", "1", "GPU-8f", "MIG-8f", "-1", "NoDevFiles"})
    EXPECT_EQ(only_own_gpu({listed, 4, false}, 1), std::nullopt) << listed;
  EXPECT_EQ(only_own_gpu({{}, 0, false}, 1), std::nullopt);
  EXPECT_EQ(only_own_gpu({{}, 1, false}, 1), std::nullopt);
}

TEST(GpuChoice, NothingIsChangedIfCudaMayReadTheListOtherwise) {
  for (const std::string listed : {"0,1,4", "0,-1,1", "1,1", "0,GPU-8f", "MIG-8f,MIG-1e", "0,", ",1", "0 ,1", "0,1x"})
    EXPECT_EQ(only_own_gpu({listed, 4, false}, 1), std::nullopt) << listed;
  EXPECT_EQ(only_own_gpu({"0,1", 0, false}, 1), std::nullopt) << "unknown number of GPUs";
}

TEST(GpuChoice, NothingIsChangedUnderMpsOrMig) {
  EXPECT_EQ(only_own_gpu({{}, 4, true}, 1), std::nullopt);
  EXPECT_EQ(only_own_gpu({"0,1", 4, true}, 1), std::nullopt);
}

}  // namespace
}  // namespace voxherd
