#include "src/io/nifti/nifti_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include "core/failure.hpp"
#include "src/io/nifti/nifti.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::read_file;
using testing::scratch_folder;
using testing::write_file;

nifti_image small_image() {
  nifti_image image;
  image.grid.size = {4, 3, 2};
  image.grid.voxel_to_world = {-2, 0, 0, 90, 0, 0, 3, -126, 0, 2.5, 0, -72, 0, 0, 0, 1};
  image.volumes = 5;
  image.description = "voxherd";
  return image;
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.5F);
  values[1] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

void expect_equal(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

TEST(NiftiWriter, WrittenFilesAreReadBackPlainAndCompressed) {
  const scratch_folder folder;
  const auto image = small_image();
  const auto values = counted(120);
  for (const char* name : {"out.nii", "out.nii.gz"}) {
    write_nifti(folder / name, image, values);
    const auto h = read_nifti_header(folder / name);
    EXPECT_EQ(h.compressed, std::string(name) == "out.nii.gz");
    EXPECT_EQ(h.grid.size, image.grid.size);
    EXPECT_EQ(h.volumes, 5U);
    EXPECT_TRUE(h.warnings.empty());
    nifti_reader reader(h);
    for (std::uint64_t v = 0; v < 5; ++v) {
      std::vector<float> volume(24);
      reader.read(v, 0, 24, volume.data());
      expect_equal(volume,
                   {values.begin() + static_cast<long>(24 * v), values.begin() + static_cast<long>(24 * (v + 1))});
    }
  }
}

TEST(NiftiWriter, IntegersAreWrittenWithoutRounding) {
  const scratch_folder folder;
  std::vector<std::int32_t> values(24, 16777217);
  values[3] = -5;
  auto image = small_image();
  image.volumes = 1;
  write_nifti(folder / "out.nii.gz", image, values);
  const auto h = read_nifti_header(folder / "out.nii.gz");
  EXPECT_EQ(h.datatype, 8);
  std::vector<double> found(24);
  nifti_reader(h).read(0, 0, 24, found.data());
  EXPECT_EQ(found, std::vector<double>(values.begin(), values.end()));
}

TEST(NiftiWriter, GridMatrixIsWrittenToBothForms) {
  const scratch_folder folder;
  const auto image = small_image();
  write_nifti(folder / "out.nii", image, counted(120));
  const auto h = read_nifti_header(folder / "out.nii");
  EXPECT_EQ(h.geometry["qform_code"], 1);
  EXPECT_EQ(h.geometry["sform_code"], 1);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(h.grid.voxel_to_world[i], image.grid.voxel_to_world[i], 1e-5);
}

TEST(NiftiWriter, ShearedMatrixIsWrittenOnlyToTheSform) {
  const scratch_folder folder;
  auto image = small_image();
  image.grid.voxel_to_world = {2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1};
  write_nifti(folder / "out.nii", image, counted(120));
  const auto h = read_nifti_header(folder / "out.nii");
  EXPECT_EQ(h.geometry["qform_code"], 0);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(h.grid.voxel_to_world[i], image.grid.voxel_to_world[i], 1e-5);
}

TEST(NiftiWriter, GeometryIsCopiedToTheLastBit) {
  const scratch_folder folder;
  crafted_nifti reference;
  reference.sform({-1.7499, 0.0123, 0.3, 90.1, 0.1, 1.75, 0.001, -126.7, 0.02, 0.03, 2.5, -72.3});
  reference.append(std::vector<float>(24));
  reference.qform({0.1, 0.2, 0.3}, {1.1, 2.2, 3.3}).codes(2, 4).pixdim(0, -1).pixdim(1, 1.75).units(10);
  write_file(folder / "reference.nii", reference.content());

  nifti_image image;
  const auto h = read_nifti_header(folder / "reference.nii");
  image.grid = h.grid;
  image.geometry = nlohmann::json::parse(h.geometry.dump());
  write_nifti(folder / "out.nii", image, std::vector<float>(24));

  const auto expected = reference.content(), found = read_file(folder / "out.nii");
  const auto same = [&](std::size_t from, std::size_t to) {
    return std::equal(expected.begin() + static_cast<long>(from), expected.begin() + static_cast<long>(to),
                      found.begin() + static_cast<long>(from));
  };
  EXPECT_TRUE(same(76, 92)) << "pixdim[0..3]";
  EXPECT_TRUE(same(123, 124)) << "xyzt_units";
  EXPECT_TRUE(same(252, 328)) << "codes, quaternion, offset, srow";
}

TEST(NiftiWriter, ALongDimensionMakesANifti2File) {
  const scratch_folder folder;
  nifti_image image;
  image.grid.size = {40000, 1, 1};
  image.grid.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const auto values = counted(40000);
  write_nifti(folder / "out.nii.gz", image, values);
  const auto h = read_nifti_header(folder / "out.nii.gz");
  EXPECT_EQ(h.version, 2);
  expect_equal(read_volume(h), values);
}

TEST(NiftiWriter, TheSameImageGivesTheSameBytes) {
  const scratch_folder folder;
  write_nifti(folder / "a.nii.gz", small_image(), counted(120));
  write_nifti(folder / "b.nii.gz", small_image(), counted(120));
  EXPECT_EQ(read_file(folder / "a.nii.gz"), read_file(folder / "b.nii.gz"));
}

TEST(NiftiWriter, MissingFolderIsADiskFailure) {
  const scratch_folder folder;
  try {
    write_nifti(folder / "no/such/out.nii", small_image(), counted(120));
    FAIL() << "written without complaint";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::disk);
    EXPECT_NE(std::string(f.what()).find("no/such/out.nii"), std::string::npos);
  }
}

TEST(NiftiWriter, UnfinishedFileIsRemoved) {
  const scratch_folder folder;
  {
    nifti_writer writer(folder / "out.nii.gz", small_image());
    writer.append(counted(60));
    EXPECT_THROW(writer.finish(), failure);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NiftiWriter, WriteErrorIsADiskFailureAndLeavesNoFile) {
  // A limit on the file size replaces a full disk: write() fails at the same point.
  const scratch_folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  nifti_image image;
  image.grid.size = {100, 100, 1};
  exit_status status = exit_status::complete;
  try {
    write_nifti(folder / "out.nii", image, std::vector<float>(10000));
  } catch (const failure& f) {
    status = f.status;
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status, exit_status::disk);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NiftiWriter, ALinkInPlaceOfTheUnfinishedFileIsNotFollowed) {
  const scratch_folder folder;
  std::ofstream(folder / "own.txt") << "mine";
  std::filesystem::create_symlink("own.txt", folder / "out.nii.voxherd-part");
  write_nifti(folder / "out.nii", small_image(), counted(120));
  std::ifstream own(folder / "own.txt");
  std::string text;
  own >> text;
  EXPECT_EQ(text, "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "out.nii"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "out.nii.voxherd-part"));
}

}  // namespace
}  // namespace voxherd
