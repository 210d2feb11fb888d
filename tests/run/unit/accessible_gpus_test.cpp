#include "src/analyses/common/choose_device.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

namespace fs = std::filesystem;

/// Files as NVIDIA's driver makes them.
class AccessibleGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    for (const char* file : {"nvidiactl", "nvidia-uvm", "nvidia-modeset", "null"}) add_file(file);
  }

  void add_file(const std::string& name) {
    fs::create_directories(root_ / "dev");
    std::ofstream(root_ / "dev" / name) << "";
  }
  void add_folder(const std::string& name) { fs::create_directories(root_ / "proc/driver/nvidia" / name); }
  void add_gpus(int files, int known) {
    for (int g = 0; g < files; ++g) add_file("nvidia" + std::to_string(g));
    for (int g = 0; g < known; ++g) add_folder("gpus/0000:0" + std::to_string(g) + ":00.0");
  }
  int count() const { return gpu_files.accessible(root_.string()); }

  voxherd::testing::scratch_folder scratch_;
  fs::path root_ = scratch_.path();
};

TEST_F(AccessibleGpus, AreCountedByTheirDeviceFiles) {
  add_gpus(4, 4);
  EXPECT_EQ(count(), 4);
}

TEST_F(AccessibleGpus, NoneWithoutADriver) { EXPECT_EQ(count(), 0); }

TEST_F(AccessibleGpus, AContainerMayHaveFewerThanTheDriver) {
  add_gpus(2, 4);
  EXPECT_EQ(count(), 2);
}

TEST_F(AccessibleGpus, ASandboxMayHideTheDriversFolder) {
  add_gpus(2, 0);
  EXPECT_EQ(count(), 2);
}

TEST_F(AccessibleGpus, AreUnknownIfThereAreFilesOfMissingGpus) {
  add_gpus(8, 4);
  EXPECT_EQ(count(), 0);
}

TEST_F(AccessibleGpus, AFileWithoutPermissionIsNotCounted) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open every file";
  add_gpus(2, 2);
  fs::permissions(root_ / "dev/nvidia1", fs::perms::none);
  EXPECT_EQ(count(), 1);
}

TEST_F(AccessibleGpus, AreRenumberedByMigInstancesAndMps) {
  add_gpus(2, 2);
  add_folder("capabilities/gpu0/mig");
  EXPECT_FALSE(gpu_files.are_renumbered(root_.string()));
  add_folder("capabilities/gpu1/mig/gi3");
  EXPECT_TRUE(gpu_files.are_renumbered(root_.string()));
  fs::remove_all(root_ / "proc/driver/nvidia/capabilities");
  fs::create_directories(root_ / "tmp/nvidia-mps");
  EXPECT_TRUE(gpu_files.are_renumbered(root_.string()));
}

}  // namespace
}  // namespace voxherd
