// A result that one process knows is written compressed, and read as any other.

#include "mpi/result/known_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "core/plan.hpp"
#include "core/threads.hpp"
#include "mpi/result/result_check.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/result_writer.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/value_bytes.hpp"

namespace voxherd {
namespace {

using testing::bytes_of_values;

class KnownFile : public ::testing::Test {
 protected:
  /// Every `apart`-th voxel of a grid has a value.
  void write(std::uint64_t apart, std::uint64_t items_per_batch) {
    layout_.version = "0.2.0";
    layout_.analysis = "toy";
    layout_.grid.size = {50, 40, 30};
    for (std::uint64_t v = 3; v < layout_.grid.voxel_count(); v += apart) voxels_.push_back(v);
    layout_.item_voxels = voxels_;
    layout_.outputs = {{"count", element_type::uint32, {}, output_layout::volume, "1", "a count"},
                       {"direction", element_type::float32, {3}, output_layout::volume, "1", "a vector"}};
    layout_.configuration = nlohmann::json::object();
    layout_.provenance = nlohmann::json::object();
    layout_.batches = make_plan(partition_kind::voxels, voxels_, layout_.grid, batch_sizes(items_per_batch));
    counts_.resize(voxels_.size());
    std::iota(counts_.begin(), counts_.end(), 1);
    directions_.assign(3 * voxels_.size(), 0.5f);
    known_file file(path_, layout_,
                    {[this] { return bytes_of_values(counts_); }, [this] { return bytes_of_values(directions_); }});
    while (file.write_part()) ++parts_;
    file.close();
    mark_complete(path_, "{}");
  }

  voxherd::testing::scratch_folder folder_;
  std::string path_ = (folder_.path() / "known.h5").string();
  result_layout layout_;
  std::vector<std::uint64_t> voxels_;
  std::vector<std::uint32_t> counts_;
  std::vector<float> directions_;
  int parts_ = 0;
};

TEST_F(KnownFile, HasTheValuesOnTheGridAndZerosElsewhere) {
  write(7, 1000);
  const result_reader reader(path_);
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.item_voxels(), voxels_);
  const std::vector<float> count = reader.read_map("count"), direction = reader.read_map("direction");
  std::size_t item = 0;
  for (std::uint64_t v = 0; v < count.size(); ++v) {
    const bool has_value = item < voxels_.size() && voxels_[item] == v;
    EXPECT_EQ(count[v], has_value ? static_cast<float>(counts_[item]) : 0.0f);
    EXPECT_EQ(direction[3 * v + 2], has_value ? 0.5f : 0.0f);
    item += has_value ? 1 : 0;
  }
  EXPECT_EQ(item, voxels_.size());
}

TEST_F(KnownFile, IsWrittenInPartsBetweenWhichASignalCanStopIt) {
  set_compression_threads(1);
  write(7, 1000);
  set_compression_threads(0);
  EXPECT_EQ(parts_, 3);  // one of the counts, which are one chunk, and three of the directions; the last is not counted
}

TEST_F(KnownFile, IsVerifiedBatchByBatch) {
  write(7, 1000);
  const result_reader reader(path_);
  ASSERT_GT(reader.batches().size(), 2u);
  for (const journal_entry& entry : reader.journal()) EXPECT_EQ(entry.done, 1u);
  EXPECT_FALSE(check_share(path_, layout_of(reader), checked_part::everything, 0, 1).found());
}

TEST_F(KnownFile, IsMuchSmallerThanItsMaps) {
  write(9000, 1 << 20);
  EXPECT_LT(std::filesystem::file_size(path_), data_bytes(layout_) / 3);
}

TEST_F(KnownFile, MayHaveASingleItem) {
  write(1 << 20, 10);
  EXPECT_EQ(voxels_.size(), 1u);
  EXPECT_EQ(result_reader(path_).read_map("count")[3], 1.0f);
}

}  // namespace
}  // namespace voxherd
