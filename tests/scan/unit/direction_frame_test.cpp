#include "src/scan/direction_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "src/io/nifti/storage_order.hpp"
#include "src/scan/gradients.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::scratch_folder;
using testing::write_file;

/// Axes as columns, row by row: LPS+ as QSIPrep stores images, LAS as FSL's templates, and an oblique one.
constexpr std::array<std::array<double, 9>, 3> axes_of_images{
    {{-2, 0, 0, 0, -2, 0, 0, 0, 2}, {-2, 0, 0, 0, 2, 0, 0, 0, 2}, {1.6, -1.2, 0, 1.2, 1.6, 0, 0, 0, 2}}};

image_grid with_axes(const std::array<double, 9>& axes) {
  image_grid grid;
  grid.size = {10, 10, 10};
  grid.voxel_size_mm = {2, 2, 2};
  grid.voxel_to_world[15] = 1;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) grid.voxel_to_world[4 * r + c] = axes[3 * r + c];
  return grid;
}

/// A series of six directions as files: MRtrix's table, and components along the image axes with the sign of x.
class Frames : public ::testing::Test {
 protected:
  void write(const std::array<double, 9>& axes, double sign_of_x) {
    std::string b = "0", bvecs[3] = {"0", "0", "0"}, table = "# command_history: mrconvert dwi.mif\n0 0 0 0\n";
    for (const auto& g : world_) {
      b += " 1000";
      table += std::to_string(g[0]) + ' ' + std::to_string(g[1]) + ' ' + std::to_string(g[2]) + " 1000\n";
      for (std::size_t c = 0; c < 3; ++c) {
        const double along = (axes[c] * g[0] + axes[3 + c] * g[1] + axes[6 + c] * g[2]) / 2;
        bvecs[c] += ' ' + std::to_string(c == 0 ? sign_of_x * along : along);
      }
    }
    write_file(bvals_, b + '\n');
    write_file(bvecs_, bvecs[0] + '\n' + bvecs[1] + '\n' + bvecs[2] + '\n');
    write_file(table_, table);
  }

  direction_frame compare(const image_grid& grid) const {
    return compare_with_table({bvals_, bvecs_}, table_, grid, world_.size() + 1);
  }

  const std::vector<std::array<double, 3>> world_{{1, 0, 0},    {0, .8, .6}, {.6, .8, 0},
                                                  {0, .6, -.8}, {.8, 0, .6}, {.48, .6, .64}};
  scratch_folder folder_;
  std::string bvals_ = folder_ / "a.bval", bvecs_ = folder_ / "a.bvec", table_ = folder_ / "a.b";
};

TEST_F(Frames, MrtrixsTableGivesTheDirectionsOfFslsFiles) {
  for (const auto& axes : axes_of_images) {
    const image_grid grid = with_axes(axes);
    write(axes, is_right_handed(grid) ? -1 : 1);
    const gradient_table fsl = read_gradients({bvals_, bvecs_}, grid, 7),
                         mrtrix = read_gradients({table_, table_}, grid, 7);
    EXPECT_EQ(find_frame({table_, table_}), direction_frame::world);
    EXPECT_EQ(fsl.b_s_per_mm2, mrtrix.b_s_per_mm2);
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_NEAR(fsl.x[k], mrtrix.x[k], 1e-5);
      EXPECT_NEAR(fsl.y[k], mrtrix.y[k], 1e-5);
      EXPECT_NEAR(fsl.z[k], mrtrix.z[k], 1e-5);
    }
  }
}

TEST_F(Frames, ATableAlongTheImageAxesDiffersFromFslsInTheSignOfXIfTheDeterminantIsPositive) {
  for (const auto& axes : axes_of_images) {
    const image_grid grid = with_axes(axes);
    const double sign = is_right_handed(grid) ? -1 : 1;
    write(axes, 1);
    const gradient_table image = read_gradients({bvals_, bvecs_, direction_frame::image}, grid, 7),
                         fsl = read_gradients({bvals_, bvecs_, direction_frame::fsl}, grid, 7);
    for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(image.x[k], sign * fsl.x[k]);
    EXPECT_EQ(image.y, fsl.y);
    EXPECT_EQ(image.z, fsl.z);
  }
}

TEST_F(Frames, TheFrameIsTheOneInWhichBothFilesAgreeAndFslsIfThereIsNoDifference) {
  for (const auto& axes : axes_of_images) {
    const image_grid grid = with_axes(axes);
    const bool differ = is_right_handed(grid);
    write(axes, differ ? -1 : 1);
    EXPECT_EQ(compare(grid), direction_frame::fsl);
    write(axes, 1);
    EXPECT_EQ(compare(grid), differ ? direction_frame::image : direction_frame::fsl);
  }
  write({2, 0, 0, 0, 2, 0, 0, 0, 2}, 1);  // the components of the world
  EXPECT_EQ(compare(with_axes(axes_of_images[2])), direction_frame::world);
}

TEST_F(Frames, FilesThatAgreeInNoFrameAreBothNamed) {
  write({0, 2, 0, 2, 0, 0, 0, 0, 2}, 1);
  try {
    compare(with_axes(axes_of_images[0]));
    ADD_FAILURE() << "no complaint";
  } catch (const failure& f) {
    const std::string line = f.what();
    EXPECT_EQ(f.status, exit_status::bad_data);
    for (const std::string& file : {bvecs_, table_}) EXPECT_NE(line.find(file), std::string::npos) << line;
  }
}

TEST_F(Frames, FilesWithOtherBValuesAreBothNamed) {
  write(axes_of_images[0], 1);
  write_file(bvals_, "0 1000 1000 1000 2000 1000 1000\n");
  try {
    compare(with_axes(axes_of_images[0]));
    ADD_FAILURE() << "no complaint";
  } catch (const failure& f) {
    const std::string line = f.what();
    EXPECT_NE(line.find("b of volume 4 is 2000 s/mm2, expected 1000"), std::string::npos) << line;
    for (const std::string& file : {bvals_, table_}) EXPECT_NE(line.find(file), std::string::npos) << line;
  }
}

TEST_F(Frames, MrtrixsTableInAnotherFrameIsRefused) {
  write(axes_of_images[0], 1);
  EXPECT_THROW(find_frame({table_, table_, direction_frame::image}), failure);
  EXPECT_EQ(find_frame({table_, table_, direction_frame::world}), direction_frame::world);
}

TEST_F(Frames, ResultsNameTheFrameInWordsThatAreReadBack) {
  for (const direction_frame frame : {direction_frame::fsl, direction_frame::image, direction_frame::world})
    EXPECT_EQ(stored_frame({{"form", frame_form(frame)}}), frame);
  EXPECT_EQ(stored_frame({{"path", "bvecs"}}), direction_frame::fsl);
}

}  // namespace
}  // namespace voxherd
