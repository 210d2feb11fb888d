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
  load_input(a, items, rows);
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

/// The toy analysis, whose runner reads columns: one of the first and one of the last four bytes of each item.
class columns_toy final : public toy::forwarded_analysis, public item_input {
 public:
  explicit columns_toy(voxherd::analysis& inner) : forwarded_analysis(inner) {}

  item_input* input() override { return this; }
  input_layout reads() const override { return input_layout::columns; }
  std::size_t bytes_per_item() const override { return inner().input()->bytes_per_item(); }
  void load(const batch&, std::span<std::byte>) override { ADD_FAILURE() << "loaded in rows"; }
  void load_columns(const batch& items, std::span<std::byte> columns) override {
    std::vector<std::byte> rows(columns.size());
    inner().input()->load(items, rows);
    exchange(rows, items.item_count, 2, columns);
  }
  std::unique_ptr<batch_runner> make_runner() const override { return std::make_unique<runner>(inner().make_runner()); }

 private:
  /// From `lines` of `values` with four bytes to lines of the values at the same place.
  static void exchange(std::span<const std::byte> from, std::size_t lines, std::size_t values,
                       std::span<std::byte> to) {
    for (std::size_t i = 0; i < lines; ++i)
      for (std::size_t k = 0; k < values; ++k)
        std::copy_n(from.begin() + 4 * (i * values + k), 4, to.begin() + 4 * (k * lines + i));
  }

  class runner final : public batch_runner {
   public:
    explicit runner(std::unique_ptr<batch_runner> inner) : inner_(std::move(inner)) {}
    void run(const batch& items, std::span<const std::byte> input,
             std::span<const std::span<std::byte>> outputs) override {
      std::vector<std::byte> rows(input.size());
      exchange(input, 2, items.item_count, rows);
      inner_->run(items, rows, outputs);
    }

   private:
    std::unique_ptr<batch_runner> inner_;
  };
};

TEST(BatchPieces, GiveTheBytesOfTheCompleteBatchThatIsReadInColumns) {
  toy::analysis in_rows({12, 11, 9});
  columns_toy in_columns(in_rows);
  const batch items{7, 13, 400};
  toy::small_device_log log;
  const auto expected = results_of(in_rows, items, 1u << 30, log);
  for (const std::uint64_t max_items : {400u, 399u, 100u, 7u, 1u})
    EXPECT_EQ(results_of(in_columns, items, max_items, log), expected) << max_items;
  EXPECT_GT(log.refused, 0);
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
