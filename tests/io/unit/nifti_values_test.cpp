#include "tests/io/support/nifti_case.hpp"

#include <cmath>
#include <limits>

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::good;
using testing::gzipped;
using testing::infinity;
using testing::nan;
using testing::NiftiFile;
using testing::scratch_folder;
using testing::write_file;

struct type_case {
  int version;
  std::endian order;
};

class NiftiTypes : public ::testing::TestWithParam<type_case> {
 protected:
  template <class T>
  void expect_values(int datatype, const std::vector<T>& stored) {
    crafted_nifti image(GetParam().version, GetParam().order);
    image.dimensions({static_cast<std::int64_t>(stored.size()), 1, 1}).datatype(datatype, 8 * sizeof(T)).append(stored);
    write_file(folder_ / "plain.nii", image.content());
    write_file(folder_ / "packed.nii.gz", gzipped(image.content()));
    image.scaling(2, -1);
    write_file(folder_ / "scaled.nii", image.content());
    const auto plain = read_volume(read_nifti_header(folder_ / "plain.nii"));
    const auto packed = read_volume(read_nifti_header(folder_ / "packed.nii.gz"));
    const auto scaled = read_volume(read_nifti_header(folder_ / "scaled.nii"));
    for (std::size_t i = 0; i < stored.size(); ++i) {
      EXPECT_EQ(plain[i], static_cast<float>(stored[i])) << "type " << datatype;
      EXPECT_EQ(packed[i], plain[i]);
      EXPECT_EQ(scaled[i], static_cast<float>(static_cast<double>(stored[i]) * 2 - 1));
    }
  }
  scratch_folder folder_;
};

TEST_P(NiftiTypes, AllRealTypesGiveTheirValues) {
  expect_values<std::uint8_t>(2, {0, 1, 200, 255});
  expect_values<std::int8_t>(256, {-128, -1, 0, 127});
  expect_values<std::int16_t>(4, {-32768, -2, 0, 258, 32767});
  expect_values<std::uint16_t>(512, {0, 258, 65535});
  expect_values<std::int32_t>(8, {-2147483647, -1, 0, 16909060});
  expect_values<std::uint32_t>(768, {0, 16909060, 4294967295U});
  expect_values<std::int64_t>(1024, {-4611686018427387904LL, -1, 0, 72623859790382856LL});
  expect_values<std::uint64_t>(1280, {0, 72623859790382856ULL, 18446744073709551615ULL});
  expect_values<float>(16, {-1.5F, 0, 3.25e30F, std::numeric_limits<float>::denorm_min()});
  expect_values<double>(64, {-1.5, 0, 3.25e30, 0.1});
}

INSTANTIATE_TEST_SUITE_P(VersionsAndByteOrders, NiftiTypes,
                         ::testing::Values(type_case{1, std::endian::little}, type_case{1, std::endian::big},
                                           type_case{2, std::endian::little}, type_case{2, std::endian::big}));

TEST_F(NiftiFile, NanAndInfinitySurviveReading) {
  crafted_nifti image;
  image.dimensions({4, 1, 1}).scaling(2, 1).append<float>(
      {static_cast<float>(nan), static_cast<float>(infinity), 3, -0.0F});
  const auto values = read_volume(read_nifti_header(put(image.content())));
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[2], 7);
}

TEST_F(NiftiFile, SformIsTheMatrixInUse) {
  const auto h = read_nifti_header(put(good().content()));
  const std::array<double, 16> expected{2, 0, 0, -10, 0, 2, 0, -20, 0, 0, 2, -30, 0, 0, 0, 1};
  EXPECT_EQ(h.grid.voxel_to_world, expected);
  EXPECT_EQ(h.grid.size, (std::array<std::uint64_t, 3>{4, 3, 2}));
  EXPECT_EQ(h.grid.voxel_size_mm, (std::array<double, 3>{2, 2, 2}));
  EXPECT_TRUE(h.warnings.empty());
}

TEST_F(NiftiFile, QformRotatesByItsQuaternionAndFlipsByQfac) {
  // b = c = d = 1/2 (so a = 1/2) maps x to y, y to z, z to x; qfac -1 negates the third column.
  auto image = good().qform({0.5, 0.5, 0.5}, {7, 8, 9}).pixdim(0, -1).pixdim(1, 2).pixdim(2, 3).pixdim(3, 4);
  const auto h = read_nifti_header(put(image.content()));
  const std::array<double, 16> expected{0, 0, -4, 7, 2, 0, 0, 8, 0, 3, 0, 9, 0, 0, 0, 1};
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(h.grid.voxel_to_world[i], expected[i], 1e-12) << i;
}

TEST_F(NiftiFile, WithoutAnyFormTheVoxelSizesAreUsedWithAWarning) {
  auto image = good().codes(0, 0).pixdim(1, 2).pixdim(2, 3).pixdim(3, 4);
  const auto h = read_nifti_header(put(image.content()));
  EXPECT_EQ(h.grid.voxel_to_world[5], 3);
  ASSERT_EQ(h.warnings.size(), 1U);
  EXPECT_NE(h.warnings[0].find("sform_code"), std::string::npos);
}

TEST_F(NiftiFile, MetresAndMicronsBecomeMillimetresWithAWarning) {
  auto image = good().sform({2e-3, 0, 0, 0, 0, 2e-3, 0, 0, 0, 0, 2e-3, 0}).units(1);
  for (std::size_t i = 1; i < 4; ++i) image.pixdim(i, 2e-3);
  const auto h = read_nifti_header(put(image.content()));
  EXPECT_NEAR(h.grid.voxel_to_world[0], 2, 1e-6);
  EXPECT_NEAR(h.grid.voxel_size_mm[2], 2, 1e-6);
  EXPECT_EQ(h.warnings.size(), 1U);
}

TEST_F(NiftiFile, AnyPartOfAnyVolumeIsReadForwardsAndBackwards) {
  std::vector<std::int16_t> values(4 * 3 * 2 * 5);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  crafted_nifti image;
  image.dimensions({4, 3, 2, 5}).datatype(4, 16).append(values);
  for (const auto& path : {put(image.content()), put(gzipped(image.content()), "image.nii.gz")}) {
    nifti_reader reader(read_nifti_header(path));
    std::vector<float> part(7);
    for (const std::uint64_t volume : {1, 4, 0, 3}) {
      reader.read(volume, 11, 7, part.data());
      for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(part[i], static_cast<float>(volume * 24 + 11 + i)) << path;
    }
  }
}

}  // namespace
}  // namespace voxherd
