#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/own_program.hpp"
#include "src/batch/cohort/child_process.hpp"

namespace voxherd {
namespace {

using variables = std::vector<std::string>;

/// Without the variable that names the parent.
variables child_of(const variables& own, const std::string& gpu) {
  variables child = child_environment(own, gpu);
  std::erase(child, "VOXHERD_PARENT=" + std::to_string(getpid()));
  return child;
}

TEST(ChildEnvironment, HasNothingThatALauncherSaysOfARank) {
  const variables rank{
      "OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_ess=pmi", "OMPI_MCA_orte_hnp_uri=1", "PMIX_RANK=3",    "PMI_RANK=3",
      "SLURM_PROCID=3",         "SLURM_LOCALID=1",  "SLURM_STEP_ID=0",         "SLURM_STEPID=0", "SLURM_NODEID=1",
      "MPI_LOCALRANKID=1",      "VOXHERD_PARENT=5", "OMPI_UNIVERSE_SIZE=4"};
  EXPECT_EQ(child_of(rank, ""), variables{});
}

TEST(ChildEnvironment, KeepsSettingsOfTheUserAndOfTheJob) {
  const variables own{"PATH=/bin", "OMPI_MCA_io=romio321", "OMPI_ALLOW_RUN_AS_ROOT=1", "SLURM_JOB_ID=7",
                      "CUDA_VISIBLE_DEVICES=0,1"};
  EXPECT_EQ(child_of(own, ""), own);
}

TEST(ChildEnvironment, ShowsOnlyTheChildsGpu) {
  EXPECT_EQ(child_of({"CUDA_VISIBLE_DEVICES=4,5"}, "5"), variables{"CUDA_VISIBLE_DEVICES=5"});
  EXPECT_EQ(child_of({}, "1"), (variables{"CUDA_VISIBLE_DEVICES=1", "CUDA_DEVICE_ORDER=PCI_BUS_ID"}));
  EXPECT_EQ(child_of({"CUDA_DEVICE_ORDER=FASTEST_FIRST"}, "1"),
            (variables{"CUDA_DEVICE_ORDER=FASTEST_FIRST", "CUDA_VISIBLE_DEVICES=1"}));
}

TEST(InitialEnvironment, IsThatOfTheStart) {
  const variables at_start = initial_environment();
  ASSERT_TRUE(find_variable(at_start, "PATH"));
  setenv("VOXHERD_TEST_LATER", "1", 1);
  EXPECT_EQ(initial_environment(), at_start);
  EXPECT_EQ(find_variable(at_start, "VOXHERD_TEST_LATER"), std::nullopt);
  unsetenv("VOXHERD_TEST_LATER");
}

}  // namespace
}  // namespace voxherd
