#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "src/analyses/track/kept_lists.hpp"
#include "src/analyses/track/pair_sums.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

constexpr std::uint64_t streamlines_per_seed = 60;

struct sums {
  std::uint64_t count = 0, steps = 0;
};
/// Of row and column.
using dense = std::map<std::uint64_t, sums>;

std::uint64_t key_at(std::uint64_t row, std::uint64_t column) { return row << 32 | column; }

/// Equal except for the few streamlines that part from the reference.
void expect_close_sums(const dense& found, const dense& expected) {
  double difference = 0, total = 0;
  dense all = found;
  for (const auto& [key, value] : expected) all[key];
  for (const auto& [key, value] : all) {
    const auto at = [key = key](const dense& m) { return m.count(key) > 0 ? m.at(key) : sums{}; };
    difference += std::abs(static_cast<double>(at(found).count) - static_cast<double>(at(expected).count));
    difference += std::abs(static_cast<double>(at(found).steps) - static_cast<double>(at(expected).steps));
    total += static_cast<double>(at(expected).count + at(expected).steps);
  }
  EXPECT_GT(total, 100);
  EXPECT_LE(difference, 0.02 * total);
}

dense to_dense(const sparse_rows& rows) {
  dense all;
  for (std::size_t r = 0; r + 1 < rows.begin.size(); ++r)
    for (std::uint64_t i = rows.begin[r]; i < rows.begin[r + 1]; ++i)
      all[key_at(r, rows.column[i])] = {rows.count[i], rows.steps[i]};
  return all;
}

sparse_rows rows_on_cpu(const track_case& c, int threads) {
  sparse_rows rows;
  make_tracker({backend::cpu, threads, 0}, c.input(streamlines_per_seed, 100))->track_rows(0, c.seeds.size(), rows);
  return rows;
}

std::vector<pair_entry> pairs_on_cpu(const track_input& in, int threads) {
  const auto tracker = make_tracker({backend::cpu, threads, 0}, in);
  std::vector<pair_entry> all, group;
  for (std::uint64_t g = 0; g < in.plan.groups(); ++g) {
    tracker->track_pairs(g, group);
    all.insert(all.end(), group.begin(), group.end());
  }
  reduce_pairs(all);
  return all;
}

TEST(TrackMatrix, RowsOfSeedsAndOfACoarseImageAreThoseOfTheReference) {
  for (const bool square : {true, false}) {
    track_case c = bent_case_with_conditions(3);
    c.how.min_total = 12;
    square ? c.set_seed_matrix() : c.set_coarse_matrix();
    dense expected;
    for (std::size_t i = 0; i < c.seeds.size(); ++i)
      for (std::uint32_t number = 0; number < streamlines_per_seed; ++number)
        for (const auto& [column, steps] : find_crossings(c, i, draw_reference(c, c.seeds[i], number))) {
          ++expected[key_at(i, column)].count;
          expected[key_at(i, column)].steps += static_cast<std::uint64_t>(std::abs(steps));
        }
    expect_close_sums(to_dense(rows_on_cpu(c, 2)), expected);
  }
}

// Of three fibres, the last one crosses the others; masks are in another image.
track_case case_by_fibre() {
  track_case c = bent_case_with_conditions(2);
  const track_case two = c;
  c = track_case(two.size, two.how.samples, 3);
  c.how = two.how, c.voxels = two.voxels, c.seeds = two.seeds;
  c.how.fibres = 3;
  for (std::size_t i = 0; i < c.fibres.size(); ++i)
    c.fibres[i] = i % 3 < 2 ? two.fibres[i / 3 * 2 + i % 3] : packed_fibre{19660, 0, 26214, 20000};
  c.set_warp();
  return c;
}

TEST(TrackMatrix, RowsByFibreAreThoseOfTheReference) {
  track_case c = case_by_fibre();
  c.set_fibre_matrix();
  dense expected;
  std::array<std::uint64_t, 3> of_fibre{};
  for (std::size_t i = 0; i < c.seeds.size(); ++i)
    for (std::uint32_t number = 0; number < streamlines_per_seed; ++number)
      for (const auto& [column, steps] : find_fibre_crossings(c, draw_reference(c, c.seeds[i], number))) {
        ++expected[key_at(i, column)].count;
        expected[key_at(i, column)].steps += static_cast<std::uint64_t>(std::abs(steps));
        ++of_fibre[column % fibre_columns];
      }
  for (const std::uint64_t n : of_fibre) EXPECT_GT(n, 100u);
  expect_close_sums(to_dense(rows_on_cpu(c, 2)), expected);
}

// Rows are cubes of the masks' image.
TEST(TrackMatrix, PairsByFibreAreThoseOfTheReference) {
  track_case c = case_by_fibre(), columns = c;
  c.set_coarse_matrix();
  columns.set_fibre_matrix();
  dense expected, found;
  for (std::size_t i = 0; i < c.seeds.size(); ++i)
    for (std::uint32_t number = 0; number < streamlines_per_seed; ++number) {
      const reference_streamline s = draw_reference(c, c.seeds[i], number);
      for (const auto& [row, row_steps] : find_crossings(c, i, s))
        for (const auto& [column, column_steps] : find_fibre_crossings(columns, s)) {
          ++expected[key_at(row, column)].count;
          expected[key_at(row, column)].steps += static_cast<std::uint64_t>(std::abs(row_steps - column_steps));
        }
    }
  const track_input by_fibre = columns.input(streamlines_per_seed, 100);
  track_input in = c.input(streamlines_per_seed, 100);
  in.pair_columns = by_fibre.matrix;
  for (const pair_entry& e : pairs_on_cpu(in, 2)) found[e.key] = {e.count, e.steps};
  expect_close_sums(found, expected);
}

TEST(TrackMatrix, PairsOnStreamlinesAreThoseOfTheReference) {
  track_case c = bent_case_with_conditions(2);
  c.how.min_total = 12;
  c.set_coarse_matrix();
  dense expected, found;
  for (std::size_t i = 0; i < c.seeds.size(); ++i)
    for (std::uint32_t number = 0; number < streamlines_per_seed; ++number) {
      const auto crossings = find_crossings(c, i, draw_reference(c, c.seeds[i], number));
      for (auto a = crossings.begin(); a != crossings.end(); ++a)
        for (auto b = std::next(a); b != crossings.end(); ++b) {
          ++expected[key_at(a->first, b->first)].count;
          expected[key_at(a->first, b->first)].steps += static_cast<std::uint64_t>(std::abs(a->second - b->second));
        }
    }
  for (const pair_entry& e : pairs_on_cpu(c.input(streamlines_per_seed, 100), 2)) found[e.key] = {e.count, e.steps};
  expect_close_sums(found, expected);
}

/// Cubes of 2 voxels, and the seeds, which are in some of them.
void expect_pairs_of_two_masks(bool after_start) {
  track_case c = bent_case_with_conditions(2);
  c.how.min_total = 12;
  track_case other = c;
  c.set_coarse_matrix();
  c.matrix.after_start = after_start;
  other.set_seed_matrix();
  other.matrix.square = false;
  dense expected, found;
  for (std::size_t i = 0; i < c.seeds.size(); ++i)
    for (std::uint32_t number = 0; number < streamlines_per_seed; ++number) {
      const reference_streamline s = draw_reference(c, c.seeds[i], number);
      for (const auto& [row, row_steps] : find_crossings(c, i, s))
        for (const auto& [column, column_steps] : find_crossings(other, i, s)) {
          ++expected[key_at(row, column)].count;
          expected[key_at(row, column)].steps += static_cast<std::uint64_t>(std::abs(row_steps - column_steps));
        }
    }
  track_input in = c.input(streamlines_per_seed, 100);
  in.pair_columns = other.input(streamlines_per_seed, 100).matrix;
  for (const pair_entry& e : pairs_on_cpu(in, 2)) found[e.key] = {e.count, e.steps};
  expect_close_sums(found, expected);
}

TEST(TrackMatrix, PairsOfTwoMasksAreThoseOfTheReference) { expect_pairs_of_two_masks(false); }

TEST(TrackMatrix, TheSeedIsNoRowOfAMaskAfterTheStart) { expect_pairs_of_two_masks(true); }

TEST(TrackMatrix, EntriesAreTheSameForAnyThreadsAndGroups) {
  track_case c = bent_case_with_conditions(2);
  c.set_coarse_matrix();
  const sparse_rows rows = rows_on_cpu(c, 1), again = rows_on_cpu(c, 3);
  EXPECT_EQ(rows.begin, again.begin);
  EXPECT_EQ(rows.column, again.column);
  EXPECT_EQ(rows.count, again.count);
  EXPECT_EQ(rows.steps, again.steps);
  const std::vector<pair_entry> pairs = pairs_on_cpu(c.input(streamlines_per_seed, 720), 1);
  for (const auto& [per_group, threads] : {std::pair{7u, 1}, {100u, 3}, {719u, 2}})
    EXPECT_EQ(pairs_on_cpu(c.input(streamlines_per_seed, per_group), threads), pairs);
}

TEST(TrackMatrix, PartsDrawnWithTheCountsAreThoseDrawnAlone) {
  for (const int threads : {1, 3})
    for (const auto set :
         {&track_case::set_seed_matrix, &track_case::set_coarse_matrix, &track_case::set_fibre_matrix}) {
      track_case c = bent_case_with_conditions(2);
      (c.*set)();
      expect_parts_drawn_with_counts({backend::cpu, threads, 0}, c);
    }
}

TEST(TrackMatrix, ListsAreKeptUntilTheMemoryIsFull) {
  kept_lists<pair_list> kept(3 * sizeof(pair_entry));
  EXPECT_EQ(kept.find(5), nullptr);
  EXPECT_EQ(kept.keep(5, {{1, 1, 1}, {2, 1, 1}})->size(), 2u);
  EXPECT_EQ(kept.keep(6, {{1, 1, 1}, {2, 1, 1}})->size(), 2u);
  ASSERT_NE(kept.find(5), nullptr);
  EXPECT_EQ(kept.find(5)->at(1), (pair_entry{2, 1, 1}));
  EXPECT_EQ(kept.find(6), nullptr);
}

TEST(TrackMatrix, AListThatIsTakenMakesRoomForOthers) {
  kept_lists<pair_list> kept(2 * sizeof(pair_entry));
  kept.keep(5, {{1, 1, 1}, {2, 1, 1}});
  ASSERT_NE(kept.take(5), nullptr);
  EXPECT_EQ(kept.take(5), nullptr);
  EXPECT_EQ(kept.size(5), 2u);
  kept.keep(6, {{1, 1, 1}, {2, 1, 1}});
  EXPECT_NE(kept.find(6), nullptr);
}

TEST(TrackMatrix, EqualPairsAreAddedUp) {
  std::vector<pair_entry> entries = {{7, 1, 4}, {3, 2, 5}, {7, 2, 1}, {3, 1, 1}, {9, 1, 1}};
  reduce_pairs(entries);
  EXPECT_EQ(entries, (std::vector<pair_entry>{{3, 3, 6}, {7, 3, 5}, {9, 1, 1}}));
  entries.insert(entries.end(), {{9, 2, 2}, {5, 1, 1}, {3, 1, 0}, {5, 1, 1}});
  reduce_pairs(entries, 3);
  EXPECT_EQ(entries, (std::vector<pair_entry>{{3, 4, 6}, {5, 2, 2}, {7, 3, 5}, {9, 3, 3}}));
}

/// Lists of pairs of 150 rows, of which some have many and some none.
std::vector<pair_list> scattered_lists() {
  std::mt19937 chance(7);
  std::vector<pair_list> lists(30);
  for (pair_list& list : lists) {
    for (std::uint32_t i = 0; i < 400; ++i) {
      const std::uint64_t row = chance() % 3 == 0 ? 149 : chance() % 60, column = chance() % 40;
      list.push_back({key_at(row, column), 1 + chance() % 5, chance() % 100});
    }
    reduce_pairs(list);
  }
  lists.emplace_back();
  return lists;
}

pair_list joined(const std::vector<pair_list>& lists) {
  pair_list all;
  for (const pair_list& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

TEST(TrackMatrix, SumsDoNotDependOnTheOrderOfTheLists) {
  std::vector<pair_list> lists = scattered_lists();
  pair_list expected = joined(lists);
  reduce_pairs(expected);
  EXPECT_LT(expected.size(), 2600u);  // most pairs are in several lists
  for (const int threads : {1, 3}) {
    pair_sums one_by_one(150, threads), at_once(150, threads);
    for (const pair_list& list : lists) one_by_one.add(list);
    at_once.add(joined(lists));
    EXPECT_EQ(one_by_one.take(1).front(), expected);
    EXPECT_EQ(at_once.take(1).front(), expected);
    EXPECT_TRUE(one_by_one.take(1).front().empty());
    std::shuffle(lists.begin(), lists.end(), std::mt19937(1));
  }
}

TEST(TrackMatrix, SumsAreCutByRows) {
  pair_sums sums(150, 2);
  sums.add(joined(scattered_lists()));
  const std::vector<pair_list> parts = sums.take(2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(parts[0].empty() || parts[1].empty());
  EXPECT_LT(parts[0].back().key >> 32, parts[1].front().key >> 32);
  pair_sums again(150, 2);
  for (const pair_list& part : parts) again.add(part);
  EXPECT_EQ(again.take(1).front(), joined(parts));
  EXPECT_TRUE(pair_sums(0, 2).take(3).back().empty());
}

}  // namespace
}  // namespace voxherd::track
