#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "kernels/track/lane.hpp"
#include "kernels/track/stamped_table.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

TEST(StampedTable, HoldsTheKeysOfASetWhenItMovesAndNoneAfterClear) {
  constexpr std::uint32_t keys = 3000;
  table_memory<visit_entry> memory(keys);
  stamped_table<visit_entry> table = memory.table();
  std::mt19937 chance(5);
  for (const std::uint32_t used : {10u, visit_entry::few / 2, visit_entry::few / 2 + 1, keys, 7u}) {
    std::set<std::uint32_t> expected;
    while (expected.size() < used) {
      const std::uint32_t key = chance() % 10000;
      bool added = false;
      EXPECT_EQ(table.find(key, added).key, key);
      EXPECT_EQ(added, expected.insert(key).second);
    }
    table.clear();
  }
}

TEST(StampedTable, KeepsTheValuesOfEntriesWhenItMoves) {
  constexpr std::uint32_t keys = 10 * cell_entry::few;
  table_memory<cell_entry> memory(keys);
  stamped_table<cell_entry> table = memory.table();
  bool added = false;
  for (std::uint32_t key = 0; key < keys; ++key) table.find(37 * key, added).y = static_cast<std::int16_t>(key);
  for (std::uint32_t key = 0; key < keys; ++key) {
    EXPECT_EQ(table.find(37 * key, added).y, static_cast<std::int16_t>(key));
    EXPECT_FALSE(added);
  }
}

/// Streamlines of a seed that visit each voxel, from the walker's points.
void count_points(const track_case& c, const seed& from, std::uint32_t streamlines,
                  std::vector<std::uint64_t>& density) {
  const field_view field = c.view();
  table_memory<visit_entry> visits(1);
  table_memory<cell_entry> cells(max_cells(c.how));
  walker w(field, c.how, visits.table(), cells.table());
  for (std::uint32_t number = 0; number < streamlines; ++number) {
    std::set<std::size_t> visited;
    w.begin(from, number, 3, {});
    do {
      int voxel[3];
      for (int d = 0; d < 3; ++d) voxel[d] = static_cast<int>(std::floor(w.position(d) + 0.5f));
      visited.insert(c.index(voxel[0], voxel[1], voxel[2]));
    } while (w.advance());
    for (const std::size_t v : visited) ++density[v];
  }
}

// Random walks through more voxels than the first entries of a table hold.
TEST(TrackWalker, LongStreamlinesCountEachVoxelOnce) {
  track_case c({50, 50, 50}, 4, 1);
  std::mt19937 chance(1);
  std::normal_distribution<double> component;
  c.set_fibre(0, 0.5, [&](int, int, int, int) {
    const double x = component(chance), y = component(chance), z = component(chance), n = std::hypot(x, y, z);
    return std::array<double, 3>{x / n, y / n, z / n};
  });
  for (int x = 24; x < 28; ++x) c.add_seed(x, 25, 26);
  c.how.max_points = 1000;
  c.how.min_dot = -1;
  std::vector<std::uint64_t> expected(c.voxels.size());
  for (const seed& from : c.seeds) count_points(c, from, 10, expected);
  EXPECT_GT(std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}), 40u * visit_entry::few);
  EXPECT_EQ(count_on_cpu(c, 10, 40, 2).density, expected);
}

}  // namespace
}  // namespace voxherd::track
