#include "src/scan/region_reader.hpp"

#include <gtest/gtest.h>

namespace voxherd {
namespace {

using labels = std::vector<std::int32_t>;

/// A row of voxels along x.
image_grid row(std::uint64_t length) {
  image_grid g;
  g.size = {length, 1, 1};
  g.voxel_size_mm = {1, 1, 1};
  g.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  return g;
}

/// A triangle in the plane y = 0 from one x to another, and the labels of both vertices at `first` and that at `last`.
void add_triangle(float first, float last, std::array<std::int32_t, 3> label, labelled_surface& s) {
  const auto n = static_cast<std::uint32_t>(s.label.size());
  s.mesh.positions.insert(s.mesh.positions.end(), {first, 0, -.2f, first, 0, .2f, last, 0, 0});
  s.mesh.triangles.push_back({n, n + 1, n + 2});
  s.label.insert(s.label.end(), label.begin(), label.end());
}

labels touched(const labelled_surface& s, std::uint64_t length) { return label_touched_voxels(s, row(length)); }

TEST(TouchedVoxels, ATriangleTouchesTheVoxelsThatHoldAPointOfItAlsoOfTheirFaces) {
  labelled_surface inside, to_face, in_face, beyond;
  add_triangle(1.7f, 3.2f, {1, 1, 1}, inside);
  add_triangle(1.7f, 3.5f, {1, 1, 1}, to_face);
  add_triangle(2.5f, 2.5f, {1, 1, 1}, in_face);
  add_triangle(-7, 0.4f, {1, 1, 1}, beyond);
  EXPECT_EQ(touched(inside, 6), (labels{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(touched(to_face, 6), (labels{0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(touched(in_face, 6), (labels{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(touched(beyond, 6), (labels{1, 0, 0, 0, 0, 0}));
}

TEST(TouchedVoxels, AVoxelHasTheMostFrequentLabelOfTheCornersAndTheSmallerInATie) {
  labelled_surface s;
  add_triangle(0, 2.2f, {5, 5, 3}, s);  // voxels 0 to 2
  add_triangle(2, 3.2f, {3, 0, 0}, s);  // 2 to 3: a tie in 2
  add_triangle(1, 1.2f, {9, 9, 9}, s);  // 1
  add_triangle(4, 5.2f, {0, 0, 0}, s);  // without a label
  EXPECT_EQ(touched(s, 6), (labels{5, 9, 3, 3, 0, 0}));
}

}  // namespace
}  // namespace voxherd
