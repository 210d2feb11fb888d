#include "src/scan/label_image.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/failure.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::scratch_folder;
using testing::write_file;
using labels = std::vector<std::int32_t>;

/// Voxels of `side` mm along the world axes; `corner` is the outer corner of the first voxel, not its centre.
image_grid cubes(std::array<std::uint64_t, 3> size, double side, double corner = 0) {
  image_grid g;
  g.size = size;
  g.voxel_size_mm = {side, side, side};
  const double origin = corner + side / 2;
  g.voxel_to_world = {side, 0, 0, origin, 0, side, 0, origin, 0, 0, side, origin, 0, 0, 0, 1};
  return g;
}

TEST(LabelLookup, TheMostFrequentLabelAboveZeroWinsAndTheSmallerInATie) {
  const image_grid coarse = cubes({4, 1, 1}, 2), fine = cubes({8, 2, 2}, 1);
  labels in(32);
  const auto at = [&](std::size_t x, std::size_t y, std::size_t z) -> std::int32_t& { return in[(z * 2 + y) * 8 + x]; };
  at(1, 1, 0) = 7;                              // one of eight in voxel 0
  at(2, 0, 0) = at(2, 1, 0) = 9;                // a tie in voxel 1
  at(3, 0, 0) = at(3, 1, 1) = 4;                //
  at(4, 0, 0) = at(5, 0, 0) = at(4, 1, 1) = 5;  // three against one in voxel 2
  at(5, 1, 1) = 2;
  std::uint64_t mostly_none = 0;
  EXPECT_EQ(look_up(in, fine, coarse, mostly_none), (labels{7, 4, 5, 0}));
  EXPECT_EQ(mostly_none, 1U);
}

TEST(LabelLookup, ACoarserImageGivesTheLabelAtTheCentre) {
  const image_grid fine = cubes({6, 1, 1}, 1), coarse = cubes({2, 1, 1}, 3);
  std::uint64_t mostly_none = 0;
  EXPECT_EQ(look_up({3, 8}, coarse, fine, mostly_none), (labels{3, 3, 3, 8, 8, 8}));
  EXPECT_EQ(samples_per_axis(fine, coarse), (std::array<int, 3>{1, 1, 1}));
}

TEST(LabelLookup, IsZeroOutsideTheImage) {
  std::uint64_t mostly_none = 0;
  EXPECT_EQ(look_up({3, 8}, cubes({2, 1, 1}, 1), cubes({4, 1, 1}, 1, -1), mostly_none), (labels{0, 0, 0, 0}));
  const image_grid shifted = cubes({4, 1, 1}, 1);
  image_grid moved = shifted;
  moved.voxel_to_world[3] -= 1;
  EXPECT_EQ(look_up({3, 8, 1, 1}, shifted, moved, mostly_none), (labels{0, 3, 8, 1}));
}

TEST(LabelLookup, SampleDistanceDoesNotExceedTheLabels) {
  EXPECT_EQ(samples_per_axis(cubes({2, 2, 2}, 2.02), cubes({2, 2, 2}, 1)), (std::array<int, 3>{2, 2, 2}));
  EXPECT_EQ(samples_per_axis(cubes({2, 2, 2}, 2), cubes({2, 2, 2}, 0.7)), (std::array<int, 3>{3, 3, 3}));
}

class LabelImage : public ::testing::Test {
 protected:
  std::string write(const std::vector<float>& values, const char* name = "labels.nii") {
    const auto n = static_cast<std::int64_t>(values.size());
    write_file(folder_ / name, crafted_nifti().dimensions({n, 1, 1}).append(values).content());
    return folder_ / name;
  }
  /// crafted_nifti's own grid: 2 mm, from (-10, -20, -30).
  static image_grid grid(std::uint64_t n) {
    image_grid g;
    g.size = {n, 1, 1};
    g.voxel_size_mm = {2, 2, 2};
    g.voxel_to_world = {2, 0, 0, -10, 0, 2, 0, -20, 0, 0, 2, -30, 0, 0, 0, 1};
    return g;
  }
  void expect_refused(const std::vector<float>& values, const std::vector<std::string>& words) {
    try {
      (void)read_labels(write(values), grid(values.size()), label_kind::labels);
      ADD_FAILURE() << "accepted";
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
      for (const std::string& word : words) EXPECT_NE(std::string(f.what()).find(word), std::string::npos) << f.what();
    }
  }
  scratch_folder folder_;
};

TEST_F(LabelImage, KeepsLabelsOfItsOwnGridAndCountsThem) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const label_image image = read_labels(write({0, 4, 2, 4, -1, nan}), grid(6), label_kind::labels);
  EXPECT_EQ(image.label, (labels{0, 4, 2, 4, 0, 0}));
  EXPECT_EQ(image.values, (labels{2, 4}));
  EXPECT_EQ(image.voxel_count, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(image.voxels_with({4}), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(image.voxels_with({}), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(LabelImage, IntegersOfEveryTypeAreReadWithoutRounding) {
  // Labels of the Allen Institute's atlas, which float32 rounds, and the largest label.
  const labels expected{0, 312782546, 614454277, 16777217, 2147483647};
  const auto read = [&](const crafted_nifti& file) {
    write_file(folder_ / "labels.nii", file.content());
    return read_labels(folder_ / "labels.nii", grid(expected.size()), label_kind::labels);
  };
  const auto form = [&](int code, int bits) {
    return crafted_nifti().dimensions({static_cast<std::int64_t>(expected.size()), 1, 1}).datatype(code, bits);
  };
  for (const crafted_nifti& file : {form(8, 32).append(expected),
                                    form(768, 32).append(std::vector<std::uint32_t>(expected.begin(), expected.end())),
                                    form(1024, 64).append(std::vector<std::int64_t>(expected.begin(), expected.end())),
                                    form(64, 64).append(std::vector<double>(expected.begin(), expected.end()))}) {
    const label_image image = read(file);
    EXPECT_EQ(image.label, expected);
    EXPECT_EQ(image.values, (labels{16777217, 312782546, 614454277, 2147483647}));
    EXPECT_EQ(image.voxel_count, (std::vector<std::uint64_t>(4, 1)));
  }
  EXPECT_THROW((void)read(form(768, 32).append(std::vector<std::uint32_t>{0, 1, 2, 3, 2147483648U})), failure);
}

TEST_F(LabelImage, IntegersWithARoundedSlopeAreLabels) {
  write_file(folder_ / "labels.nii", crafted_nifti()
                                         .dimensions({3, 1, 1})
                                         .datatype(4, 16)
                                         .scaling(0.1, 0)
                                         .append(std::vector<std::int16_t>{0, 10, 30})
                                         .content());
  EXPECT_EQ(read_labels(folder_ / "labels.nii", grid(3), label_kind::labels).label, (labels{0, 1, 3}));
}

TEST_F(LabelImage, MaskContainsAllValuesAboveZero) {
  const label_image image = read_labels(write({0, 0.2f, 17, -3}), grid(4), label_kind::mask);
  EXPECT_EQ(image.label, (labels{0, 1, 1, 0}));
}

TEST_F(LabelImage, RejectsImagesThatAreNotParcellations) {
  expect_refused({0, 1.5f}, {"voxel 1", "1.5", "integers"});
  expect_refused({0, 3e7f}, {"30000000", "16777216 in float32", "store them as int32"});
  expect_refused({0, 0}, {"0 of 2"});
}

TEST_F(LabelImage, NamesTheMissingLabel) {
  const label_image image = read_labels(write({1, 5}), grid(2), label_kind::labels);
  EXPECT_NO_THROW(check_labels(image, {1, 5}, "targets"));
  EXPECT_THROW(check_labels(image, {1, 4}, "targets"), failure);
}

TEST(LabelList, IsSortedAndEachOnce) {
  EXPECT_EQ(parse_labels("17,3,17", "x"), (labels{3, 17}));
  EXPECT_EQ(parse_labels("8,2-4,3-5,7-7", "x"), (labels{2, 3, 4, 5, 7, 8}));
  for (const char* wrong : {"", "3,", "3 4", "0", "-2", "3.5", "2147483648", "x", "5-2", "3-", "-", "1-2-3"})
    EXPECT_THROW((void)parse_labels(wrong, "x"), failure) << wrong;
  EXPECT_EQ(parse_labels("614454277,2147483646-2147483647", "x"), (labels{614454277, 2147483646, 2147483647}));
  EXPECT_THROW((void)parse_labels("1-2147483647", "x"), failure);
}

}  // namespace
}  // namespace voxherd
