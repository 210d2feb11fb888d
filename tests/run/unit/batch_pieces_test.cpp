#include "mpi/run/lane_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mpi/result/rows.hpp"
#include "tests/run/support/ragged_toy.hpp"
#include "tests/run/support/small_device.hpp"

namespace {

using namespace voxherd;

std::vector<std::byte> load_rows(analysis& a, const batch& items) {
  if (a.input() == nullptr) return {};
  std::vector<std::byte> rows(items.item_count * a.input()->bytes_per_item());
  a.input()->load(items, rows);
  return rows;
}

/// Every output of a batch that is run in pieces of at most `max_items` items.
std::vector<std::vector<std::byte>> results_of(analysis& a, const batch& items, std::uint64_t max_items,
                                               toy::small_device_log& log) {
  toy::small_device device(a, max_items, log);
  const auto offsets = a.point_offsets();
  const auto specs = a.outputs();
  const std::vector<std::byte> input = load_rows(a, items);
  std::vector<std::vector<std::byte>> results;
  std::vector<std::span<std::byte>> spans;
  for (const output_spec& o : specs)
    results.emplace_back(batch_rows(items, o.layout, offsets).count * o.bytes_per_item(), std::byte{0xee});
  for (auto& r : results) spans.emplace_back(r);
  piecewise_runner(device).run(items, input, spans, specs, offsets);
  return results;
}

TEST(BatchPieces, GiveTheBytesOfTheCompleteBatch) {
  toy::analysis a({12, 11, 9});
  const batch items{7, 13, 400};
  toy::small_device_log all, pieces;
  const auto expected = results_of(a, items, 1u << 30, all);
  EXPECT_EQ(all.refused, 0);
  for (const std::uint64_t max_items : {399u, 100u, 7u, 1u}) {
    pieces = {};
    EXPECT_EQ(results_of(a, items, max_items, pieces), expected) << max_items;
    EXPECT_GT(pieces.refused, 0);
    EXPECT_EQ(pieces.released, pieces.refused);
    EXPECT_LE(pieces.largest, max_items);
  }
}

TEST(BatchPieces, GiveTheBytesOfTheCompleteBatchWhereItemsHavePoints) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 1000; id < 1300; ++id) ids.push_back(id);
  toy::ragged a(ids);
  const batch items{2, 21, 250};
  toy::small_device_log all, pieces;
  const auto expected = results_of(a, items, 1u << 30, all);
  for (const std::uint64_t max_items : {249u, 33u, 1u}) EXPECT_EQ(results_of(a, items, max_items, pieces), expected);
  EXPECT_GT(pieces.refused, 0);
}

TEST(BatchPieces, KeepTheSizeThatFitsForLaterBatches) {
  toy::analysis a({12, 11, 9});
  toy::small_device_log log;
  toy::small_device device(a, 60, log);
  piecewise_runner runner(device);
  const auto run = [&](const batch& items) {
    const std::vector<std::byte> input = load_rows(a, items);
    std::vector<std::vector<std::byte>> rows;
    std::vector<std::span<std::byte>> spans;
    for (const output_spec& o : a.outputs()) rows.emplace_back(items.item_count * o.bytes_per_item());
    for (auto& r : rows) spans.emplace_back(r);
    runner.run(items, input, spans, a.outputs(), {});
  };
  run({0, 0, 200});
  EXPECT_EQ(log.refused, 2);  // 200, then 100; 50 fit
  run({1, 200, 200});
  EXPECT_EQ(log.refused, 2);
}

TEST(BatchPieces, ThrowWhereASingleItemDoesNotFit) {
  toy::analysis a({12, 11, 9});
  toy::small_device_log log;
  EXPECT_THROW(results_of(a, {0, 0, 8}, 0, log), device_out_of_memory);
}

}  // namespace
