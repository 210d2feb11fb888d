#include "src/io/cifti/cifti.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "src/io/nifti/nifti.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

image_grid make_grid(std::array<std::uint64_t, 3> size, double first_axis, double offset) {
  image_grid g;
  g.size = size;
  g.voxel_to_world = {first_axis, 0, 0, offset, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1};
  return g;
}

TEST(Cifti, VoxelsOfAnotherGridAreFoundByWorldCoordinates) {
  const image_grid plain = make_grid({5, 4, 3}, 2, 0), flipped = make_grid({5, 4, 3}, -2, 8);
  const voxel_matcher matcher(plain, flipped);
  EXPECT_EQ(matcher.find(0), 4U);
  EXPECT_EQ(matcher.find(1 + 5 * (2 + 4 * 2)), 3 + 5 * (2 + 4 * 2U));
  const voxel_matcher smaller(plain, make_grid({2, 2, 2}, 2, 4));
  EXPECT_EQ(smaller.find(1), std::nullopt);
  EXPECT_EQ(smaller.find(2), 0U);
  EXPECT_EQ(smaller.find(4), std::nullopt);
  EXPECT_EQ(voxel_matcher(plain, make_grid({5, 4, 3}, 2, 0.3)).find(1), std::nullopt);
}

TEST(Cifti, WhatIsWrittenIsReadBack) {
  const testing::scratch_folder folder;
  greyordinates g;
  g.parts = {{"CORTEX_LEFT", 10, {1, 2, 7}}, {"OTHER", 0, {0, 59}}};
  g.grid = make_grid({5, 4, 3}, 2, -3);
  const std::string path = folder / "out.dscalar.nii";
  cifti_writer writer(path, g, named_maps{{"a & b", "<c>"}, {}});
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  writer.append(values);
  writer.finish();
  const cifti_file file = read_cifti(path);
  const auto& back = std::get<greyordinates>(file.rows);
  EXPECT_EQ(back.parts, g.parts);
  EXPECT_EQ(back.grid->size, g.grid->size);
  EXPECT_EQ(back.grid->voxel_to_world, g.grid->voxel_to_world);
  EXPECT_EQ(std::get<named_maps>(file.columns).names, (std::vector<std::string>{"a & b", "<c>"}));
  EXPECT_EQ(read_cifti_column(file, 1), (std::vector<double>{2, 4, 6, 8, 10}));
}

TEST(Cifti, LabelsOfHcpsAtlasAreTheStructuresOfItsGreyordinates) {
  const char* data = std::getenv("VOXHERD_DATA");
  const std::string folder = std::string(data != nullptr ? data : VOXHERD_DATA) + "/hcp_templates/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const auto g = std::get<greyordinates>(read_cifti(folder + "91282_Greyordinates.dscalar.nii").rows);
  const std::vector<float> labels = read_volume(read_nifti_header(folder + "Atlas_ROIs.2.nii.gz"));
  std::map<std::string, std::uint64_t> sizes;
  for (const float label : labels)
    if (label != 0) ++sizes[freesurfer_structure(std::lround(label))];
  EXPECT_EQ(g.size(), 91282U);
  int volumes = 0;
  for (const brain_part& part : g.parts) {
    if (part.is_surface()) continue;
    ++volumes;
    EXPECT_EQ(sizes[part.structure], part.size()) << part.structure;
    for (const std::uint64_t v : part.places)
      ASSERT_EQ(freesurfer_structure(std::lround(labels[v])), part.structure) << "voxel " << v;
  }
  EXPECT_EQ(volumes, 19);
  EXPECT_EQ(sizes.size(), 19U);
}

}  // namespace
}  // namespace voxherd
