#include "core/main_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/failure.hpp"
#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

std::string refusal(double bytes, const main_memory& memory) {
  try {
    require_memory(bytes, "a.gii: 5 x 3 values", memory);
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::bad_data);
    return f.what();
  }
  return "";
}

TEST(MainMemory, OfAProcessIsTheSmallestOfWhatIsFreeAndAllLimits) {
  EXPECT_EQ((main_memory{16, 8, 0, 0}).usable(), 8u);
  EXPECT_EQ((main_memory{16, 8, 4, 0}).usable(), 4u);
  EXPECT_EQ((main_memory{16, 8, 0, 3}).usable(), 3u);
  EXPECT_EQ((main_memory{16, 8, 12, 0}).usable(), 8u);
  EXPECT_EQ((main_memory{}).usable(), 0u);  // not known
}

TEST(MainMemory, IsReadFromTheSystemAndTheGroupsOfTheJob) {
  voxherd::testing::scratch_folder folder;
  const std::string root = folder.path().string();
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::filesystem::path path(root + name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  write("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 600 kB\n");
  write("/proc/self/cgroup", "0::/job\n");
  write("/sys/fs/cgroup/job/memory.max", "204800\n");
  const main_memory memory = read_main_memory(root);
  EXPECT_EQ(memory.total, 1024000u);
  EXPECT_EQ(memory.available, 614400u);
  EXPECT_EQ(memory.job_limit, 204800u);
}

TEST(MainMemory, ThatAFileNeedsMoreThanThereIsIsRefused) {
  EXPECT_EQ(refusal(8e9, {16'000'000'000, 8'000'000'000, 0, 0}), "");
  EXPECT_EQ(refusal(1e30, {}), "");
  EXPECT_EQ(
      refusal(9e9, {16'000'000'000, 8'000'000'000, 0, 0}),
      "a.gii: 5 x 3 values would take 9.0 GB of memory, but this process can have only 8.0 GB (what is free on this "
      "node); is the file damaged? If it is right, give it a node with more memory");
  EXPECT_NE(refusal(9e9, {16'000'000'000, 8'000'000'000, 2'000'000'000, 0}).find("only 2.0 GB (a limit of the job"),
            std::string::npos);
}

}  // namespace
}  // namespace voxherd
