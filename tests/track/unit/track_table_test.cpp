#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "kernels/track/table_memory.hpp"
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

// A random walk through more voxels than the first entries of a table hold.
TEST(TrackWalker, LongStreamlinesHaveTheCountsOfTheReference) {
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
  const case_counts found = count_on_cpu(c, 10, 40, 2), expected = count_reference(c, 10);
  double difference = 0, total = 0;
  for (std::size_t v = 0; v < found.density.size(); ++v) {
    difference += std::abs(static_cast<double>(found.density[v]) - static_cast<double>(expected.density[v]));
    total += static_cast<double>(expected.density[v]);
  }
  EXPECT_GT(total, 40.0 * visit_entry::few);  // of each streamline
  EXPECT_LE(difference, 0.02 * total);        // the few that part from the reference
}

}  // namespace
}  // namespace voxherd::track
