#include "core/control_groups.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

/// A folder with files of /proc and /sys.
class ControlGroups : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(root_ + name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  control_group_limits limits() const { return read_control_groups(root_); }

  voxherd::testing::scratch_folder folder_;
  std::string root_ = folder_.path().string();
};

TEST_F(ControlGroups, AreNotLimitedWithoutFiles) {
  EXPECT_EQ(limits().memory_bytes, 0u);
  EXPECT_EQ(limits().cpus, 0);
  EXPECT_FALSE(limits().more_processes);
}

TEST_F(ControlGroups, OfAJobHaveTheSmallestLimitOfThoseAbove) {
  write("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("/sys/fs/cgroup/slurm/memory.max", "8000000000\n");
  write("/sys/fs/cgroup/slurm/job_7/memory.max", "2000000000\n");
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("/sys/fs/cgroup/slurm/job_7/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
  EXPECT_EQ(limits().memory_bytes, 2'000'000'000u);
  EXPECT_EQ(limits().cpus, 4);
}

TEST_F(ControlGroups, OfAContainerWithItsOwnNamespaceAreAtTheMount) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  write("/sys/fs/cgroup/pids.max", "100\n");
  write("/sys/fs/cgroup/pids.current", "97\n");
  EXPECT_EQ(limits().memory_bytes, 1073741824u);
  EXPECT_EQ(limits().cpus, 0.5);
  EXPECT_EQ(limits().more_processes, 3u);
}

TEST_F(ControlGroups, OfVersion1AreReadWhereTheirControllersAre) {
  write("/proc/self/cgroup",
        "12:pids:/docker/ab\n7:cpu,cpuacct:/docker/ab\n4:memory:/docker/ab\n1:name=systemd:/docker/ab\n");
  // The container sees its own group as the mount; the name is that of the host.
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/pids/docker/ab/pids.max", "20\n");
  write("/sys/fs/cgroup/pids/docker/ab/pids.current", "5\n");
  EXPECT_EQ(limits().memory_bytes, 536870912u);
  EXPECT_EQ(limits().cpus, 1.5);
  EXPECT_EQ(limits().more_processes, 15u);
}

TEST_F(ControlGroups, OfVersion1WithoutLimitsHaveNone) {
  write("/proc/self/cgroup", "7:cpu,cpuacct:/\n4:memory:/\n12:pids:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/pids/pids.max", "max\n");
  EXPECT_EQ(limits().memory_bytes, 0u);
  EXPECT_EQ(limits().cpus, 0);
  EXPECT_FALSE(limits().more_processes);
}

TEST_F(ControlGroups, OfBothVersionsAreRead) {
  write("/proc/self/cgroup", "4:memory:/a\n0::/a\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3000000000\n");
  write("/sys/fs/cgroup/unified/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 3'000'000'000u);
  EXPECT_EQ(limits().cpus, 2);
}

TEST_F(ControlGroups, OutsideOfTheNamespaceAreThoseOfTheMount) {
  write("/proc/self/cgroup", "0::/../../other\n");
  write("/sys/fs/cgroup/memory.max", "1000000000\n");
  write("/other/memory.max", "5\n");
  EXPECT_EQ(limits().memory_bytes, 1'000'000'000u);
}

TEST(CpuQuota, IsRoundedUpToCores) {
  const auto cores = [](double quota) { return within_quota(8, {0, quota, {}}); };
  EXPECT_EQ(cores(0), 8);
  EXPECT_EQ(cores(0.5), 1);
  EXPECT_EQ(cores(1.5), 2);
  EXPECT_EQ(cores(3), 3);
  EXPECT_EQ(cores(64), 8);
}

TEST(MemoryForImages, LeavesRoomInSmallGroups) {
  const auto bytes = [](std::uint64_t limit) { return memory_within_group(2'500'000'000, {limit, 0, {}}); };
  EXPECT_EQ(bytes(0), 2'500'000'000u);
  EXPECT_EQ(bytes(64'000'000'000), 2'500'000'000u);
  EXPECT_EQ(bytes(3'000'000'000), 1'500'000'000u);
  EXPECT_EQ(bytes(1'000'000'000), 250'000'000u);
}

}  // namespace
}  // namespace voxherd
