#include "src/io/nifti/storage_order.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "core/failure.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/scan/column_inflater.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/single_voxels.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::crafted_nifti;
using testing::gzipped;
using testing::scratch_folder;
using testing::write_file;

std::vector<storage_order> all_orders() {
  std::vector<storage_order> orders;
  for (std::uint8_t a = 0; a < 3; ++a)
    for (std::uint8_t b = 0; b < 3; ++b)
      for (unsigned reversed = 0; a != b && reversed < 8; ++reversed)
        orders.push_back({{a, b, static_cast<std::uint8_t>(3 - a - b)},
                          {(reversed & 1U) != 0, (reversed & 2U) != 0, (reversed & 4U) != 0}});
  return orders;
}

image_grid oblique_grid() { return {{5, 4, 3}, {1.6, -1.5, 0, -9, 1.2, 2, 0, 4, 0, 0, 3, 7, 0, 0, 0, 1}, {2, 2.5, 3}}; }

TEST(StorageOrder, ReorderedVoxelsKeepTheirPlacesInTheWorld) {
  const image_grid stored = oblique_grid();
  for (const storage_order& order : all_orders()) {
    const image_grid grid = reordered(stored, order);
    EXPECT_EQ(order.is_mirrored(), is_right_handed(grid) != is_right_handed(stored));
    const stored_places place(grid.size, order);
    std::set<std::uint64_t> met;
    for (std::uint64_t v = 0; v < grid.voxel_count(); ++v) {
      const vector3 here = grid_space(grid).to_world(voxel_position(grid, v));
      const vector3 there = grid_space(stored).to_world(voxel_position(stored, place(v)));
      for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(here[d], there[d], 1e-12);
      met.insert(place(v));
    }
    EXPECT_EQ(met.size(), grid.voxel_count());
  }
}

TEST(StorageOrder, DistancesAreInVoxelsAlongEachAxis) {
  const image_grid image{{4, 4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0, 1}, {1, 1, 5}};
  image_grid other = image;
  other.voxel_to_world[11] = 2;  // mm along the thick slices
  EXPECT_NEAR(apart_in_voxels(other, image), 0.4, 1e-12);
  other.voxel_to_world[3] = -0.6;
  EXPECT_NEAR(apart_in_voxels(other, image), 0.6, 1e-12);
  other = image;
  other.voxel_to_world[0] = 1.1;  // three steps to the last voxel
  EXPECT_NEAR(apart_in_voxels(other, image), 0.3, 1e-12);
}

TEST(StorageOrder, TheNearestOrderIsFoundFromTheMatrices) {
  const image_grid wanted = oblique_grid();
  for (const storage_order& order : all_orders()) {
    // From the order of the companion back to that of the image.
    const image_grid stored = reordered(wanted, order);
    const auto found = find_nearest_order(stored, wanted);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->apart_mm, 0, 1e-12);
    EXPECT_EQ(reordered(stored, found->order).size, wanted.size);
    EXPECT_EQ(found->order.is_as_stored(), order.is_as_stored());
  }
  image_grid smaller = wanted;
  smaller.size[0] = 6;
  EXPECT_FALSE(find_nearest_order(smaller, wanted).has_value());
}

TEST(StorageOrder, AnAxisOfOneVoxelIsLeftAsItIs) {
  image_grid slice = oblique_grid();
  slice.size[2] = 1;
  const auto found = find_nearest_order(slice, slice);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->order.is_as_stored());
}

TEST(StorageOrder, CodesNameTheDirectionsOfTheAxes) {
  EXPECT_EQ(axis_codes(oblique_grid()), "RAS");
  EXPECT_EQ(axis_codes(reordered(oblique_grid(), {{2, 0, 1}, {false, true, false}})), "SLA");
}

class ReorderedFile : public ::testing::Test {
 protected:
  /// Volume k of the voxel with linear index v has the value 1000 k + v, as stored.
  nifti_header make(bool packed) const {
    constexpr std::size_t volumes = 3;
    std::vector<std::int16_t> values(60 * volumes);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int16_t>(i / 60 * 1000 + i % 60);
    crafted_nifti image;
    image.dimensions({5, 4, 3, volumes}).datatype(4, 16).append(values);
    const std::string name = folder_ / (packed ? "a.nii.gz" : "a.nii");
    write_file(name, packed ? gzipped(image.content()) : image.content());
    return read_nifti_header(name);
  }

  scratch_folder folder_;
};

TEST_F(ReorderedFile, IsReadAsIfItWereStoredInThisOrder) {
  for (const bool packed : {false, true})
    for (const storage_order& order : all_orders()) {
      nifti_header header = make(packed);
      reorder(header, order);
      const stored_places place(header.grid.size, order);
      nifti_reader reader(header);
      std::vector<float> values(50);
      for (const std::uint64_t volume : {0, 2}) {
        reader.read(volume, 7, values.size(), values.data());
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(values[i], static_cast<float>(volume * 1000 + place(7 + i)));
      }
      EXPECT_THROW(reader.read(0, 20, 41, values.data()), failure);
    }
}

TEST_F(ReorderedFile, RowsOfChosenVoxelsAreThoseOfTheOrder) {
  const std::vector<std::uint64_t> voxels{0, 1, 2, 9, 17, 18, 33, 34, 35, 36, 52, 59};
  for (const bool packed : {false, true})
    for (const storage_order& order : all_orders()) {
      nifti_header turned = make(packed);
      reorder(turned, order);
      const nifti_header as_stored = make(false);
      const stored_places place(turned.grid.size, order);
      const std::vector<float> rows = read_single_voxels({as_stored, turned}, voxels);
      for (std::size_t i = 0; i < voxels.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) {
          ASSERT_EQ(rows[6 * i + k], static_cast<float>(1000 * k + voxels[i]));
          ASSERT_EQ(rows[6 * i + 3 + k], static_cast<float>(1000 * k + place(voxels[i])));
        }
    }
}

TEST_F(ReorderedFile, PiecesOfAReorderedFileContainEveryVoxelOnceInTheOrderOfTheFile) {
  nifti_header header = make(false);
  header.grid.size = {60, 50, 40};
  reorder(header, {{2, 0, 1}, {true, false, false}});
  std::vector<std::uint64_t> voxels(header.grid.voxel_count());
  std::iota(voxels.begin(), voxels.end(), std::uint64_t{0});
  std::erase_if(voxels, [](std::uint64_t v) { return v % 7 == 3; });
  const stored_places place(header.grid.size, header.order);
  std::uint64_t next = 0;
  std::set<std::uint64_t> items;
  for (const volume_piece& piece : split_into_pieces(header, voxels)) {
    EXPECT_LE(piece.count, 65536U);
    for (const voxel_run& run : piece.runs) {
      EXPECT_GE(run.first_voxel, std::max(next, piece.first_voxel));
      next = run.first_voxel + run.count;
      EXPECT_LE(next, piece.first_voxel + piece.count);
      for (std::uint64_t i = 0; i < run.count; ++i) {
        EXPECT_EQ(place(voxels[run.first_item + i]), run.first_voxel + i);
        items.insert(run.first_item + i);
      }
    }
  }
  EXPECT_EQ(items.size(), voxels.size());
}

}  // namespace
}  // namespace voxherd
