#include "src/scan/direction_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace voxherd {
namespace {

constexpr std::size_t block_side = 20;

image_grid positive_grid() {
  image_grid grid;
  grid.size = {block_side, block_side, block_side};
  grid.voxel_size_mm = {2, 2, 2};
  grid.voxel_to_world = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1};
  return grid;
}

/// 30 directions on a spiral, and one volume without weighting; along the image axes.
gradient_table spiral() {
  gradient_table g;
  g.x = g.y = g.z = g.b_s_per_mm2 = {0};
  for (int i = 0; i < 30; ++i) {
    const double z = (i + 0.5) / 30, r = std::sqrt(1 - z * z), turn = 2.4 * i;
    g.x.push_back(r * std::cos(turn));
    g.y.push_back(r * std::sin(turn));
    g.z.push_back(z);
    g.b_s_per_mm2.push_back(1000);
  }
  return g;
}

gradient_table with_signs(gradient_table g, double x, double y) {
  for (double& v : g.x) v *= x;
  for (double& v : g.y) v *= y;
  return g;
}

/// The axis of a voxel's fibres along the image axes, at a place in voxels from the block's centre; zero where there
/// are none.
using fibre_field = std::function<vector3(const vector3& at)>;

/// Circles around an oblique axis, which no flip leaves as they are.
vector3 circles(const vector3& at) {
  const vector3 axis{0.267, 0.535, 0.802};
  vector3 d{axis[1] * at[2] - axis[2] * at[1], axis[2] * at[0] - axis[0] * at[2], axis[0] * at[1] - axis[1] * at[0]};
  const double r = std::hypot(d[0], d[1], d[2]);
  if (r < 3 || r > 8) return {};
  for (double& c : d) c /= r;
  return d;
}

vector3 parallel(const vector3&) { return {0.6, 0.8, 0}; }
vector3 nothing(const vector3&) { return {}; }

/// The check of a series of these fibres, noise of 4 %, whose table is `given`.
std::vector<direction_score> score(const fibre_field& field, const gradient_table& given) {
  const gradient_table true_table = spiral();
  std::vector<std::uint64_t> object(block_side * block_side * block_side);
  for (std::size_t v = 0; v < object.size(); ++v) object[v] = v;
  direction_check check(positive_grid(), given, direction_frame::fsl, object);
  std::mt19937 engine(1);
  std::normal_distribution<double> noise(0, 0.04);
  for (std::size_t i = 0; i < check.items().size(); ++i) {
    const vector3 at = voxel_position(positive_grid(), check.items()[i]);
    const vector3 f = field({at[0] - 9.5, at[1] - 9.5, at[2] - 9.5});
    const bool is_fibre = f[0] != 0 || f[1] != 0 || f[2] != 0;
    for (std::size_t k = 0; k < check.volumes().size(); ++k) {
      const std::size_t v = check.volumes()[k];
      const double along = f[0] * true_table.x[v] + f[1] * true_table.y[v] + f[2] * true_table.z[v];
      const double d = is_fibre ? 0.3e-3 + 1.4e-3 * along * along : 0.7e-3;
      check.signal(i, k) = static_cast<float>(1000 * (std::exp(-true_table.b_s_per_mm2[v] * d) + noise(engine)));
    }
  }
  return check.scores();
}

// The determinant is positive, so that FSL's table has the other sign of x.
TEST(DirectionCheck, ARightTableIsTheBest) {
  const auto scores = score(circles, with_signs(spiral(), -1, 1));
  ASSERT_GE(scores.size(), 24U);
  EXPECT_EQ(scores[0].change, "");
  EXPECT_GT(scores[0].free_mm, scores[1].free_mm) << scores[1].change;
  EXPECT_FALSE(find_better(scores, positive_grid()));
}

TEST(DirectionCheck, ATableAlongTheImageAxesIsFoundAndNamed) {
  const auto scores = score(circles, spiral());
  const auto better = find_better(scores, positive_grid());
  ASSERT_TRUE(better);
  EXPECT_EQ(better->change, "x negated");
  EXPECT_EQ(better->frame, direction_frame::image);
  EXPECT_NE(describe_better(*better, scores[0]).find("with x negated, as if read along the image axes"),
            std::string::npos);
  EXPECT_EQ(frame_advice(*better, direction_frame::fsl), ", or read it so (--bvecs-frame image)");
  EXPECT_EQ(frame_advice(*better, direction_frame::world), "");  // MRtrix's table has no other frame
}

TEST(DirectionCheck, AnotherFlipIsFoundAndIsNoFrame) {
  const auto better = find_better(score(circles, with_signs(spiral(), -1, -1)), positive_grid());
  ASSERT_TRUE(better);
  EXPECT_EQ(better->change, "y negated");
  EXPECT_EQ(frame_advice(*better, direction_frame::fsl), "");
}

TEST(DirectionCheck, IsSilentWhereNothingDistinguishesTheChanges) {
  EXPECT_FALSE(find_better(score(parallel, spiral()), positive_grid()));
  EXPECT_FALSE(find_better(score(nothing, spiral()), positive_grid()));
}

TEST(DirectionCheck, NeedsASeriesThatDeterminesATensor) {
  gradient_table few = spiral();
  for (double& z : few.z) z = 0;
  const direction_check check(positive_grid(), few, direction_frame::fsl, std::vector<std::uint64_t>{0, 1, 2});
  EXPECT_TRUE(check.items().empty());
  EXPECT_TRUE(check.scores().empty());
}

}  // namespace
}  // namespace voxherd
