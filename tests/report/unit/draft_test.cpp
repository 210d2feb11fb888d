// What pages read of a result's maps.

#include "src/show/draft.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/plan.hpp"
#include "mpi/result/known_file.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/result_writer.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/value_bytes.hpp"

namespace voxherd::report {
namespace {

using testing::bytes_of_values;

/// A map of numbers and one of triples, different in every voxel. `thin`: the axis that slices are taken along.
class ResultDraft : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    layout_.version = "0.2.0";
    layout_.analysis = "toy";
    layout_.grid.size = {220, 230, 90};
    layout_.grid.size[static_cast<std::size_t>(GetParam())] = 7;
    layout_.grid.voxel_to_world = {1, 0, 0, -50, 0, 1, 0, -60, 0, 0, 1, -40, 0, 0, 0, 1};
    for (std::uint64_t v = 5; v < layout_.grid.voxel_count(); v += 11) voxels_.push_back(v);
    layout_.item_voxels = voxels_;
    layout_.outputs = {{"number", element_type::float32, {}, output_layout::volume, "1", "a number"},
                       {"triple", element_type::float32, {3}, output_layout::volume, "1", "three numbers"}};
    layout_.configuration = nlohmann::json::object();
    layout_.provenance = nlohmann::json::object();
    layout_.batches = make_plan(partition_kind::voxels, voxels_, layout_.grid, batch_sizes(5000));
    std::vector<float> numbers, triples;
    for (const std::uint64_t v : voxels_) {
      numbers.push_back(static_cast<float>(v));
      for (int c = 0; c < 3; ++c) triples.push_back(static_cast<float>(3 * v) + static_cast<float>(c));
    }
    known_file file(path_, layout_,
                    {[&] { return bytes_of_values(numbers); }, [&] { return bytes_of_values(triples); }});
    while (file.write_part()) {
    }
    file.close();
    mark_complete(path_, "{}");
  }

  voxherd::testing::scratch_folder folder_;
  std::string path_ = (folder_.path() / "known.h5").string();
  result_layout layout_;
  std::vector<std::uint64_t> voxels_;
};

TEST_P(ResultDraft, ReadsSlicesAndVoxelsAsTheyAreInTheCompleteMap) {
  const result_reader reader(path_);
  const result_draft d(reader);
  const std::vector<float> number = reader.read_map("number"), triple = reader.read_map("triple");
  const std::uint64_t area = d.grid.size[0] * d.grid.size[1];
  EXPECT_EQ(reader.read_slices("triple", 2, 3, 3),
            std::vector<float>(triple.begin() + static_cast<std::ptrdiff_t>(6 * area),
                               triple.begin() + static_cast<std::ptrdiff_t>(15 * area)));

  ASSERT_FALSE(d.slices.slices.empty());
  const map_values shown = d.read_shown("triple");
  d.slices.for_each_pixel([&](std::size_t, std::size_t, const auto& place) {
    const std::uint64_t v = d.view.voxel(place);
    for (std::uint64_t c = 0; c < 3; ++c) ASSERT_EQ(shown[3 * v + c], triple[3 * v + c]) << v;
  });

  ASSERT_EQ(d.fitted, voxels_);
  std::size_t next = 0;
  d.visit("triple", d.fitted, [&](std::size_t i, const float* values) {
    ASSERT_EQ(i, next++);
    for (std::uint64_t c = 0; c < 3; ++c) ASSERT_EQ(values[c], triple[3 * voxels_[i] + c]) << i;
  });
  EXPECT_EQ(next, voxels_.size());
  const std::vector<std::uint64_t> backwards(voxels_.rbegin(), voxels_.rend());
  d.visit("number", backwards, [&](std::size_t i, const float* value) { ASSERT_EQ(*value, number[backwards[i]]); });
}

TEST_P(ResultDraft, DescribesThePresentVoxels) {
  const result_reader reader(path_);
  result_draft d(reader);
  const output_spec& o = *d.find("number");
  EXPECT_EQ(describe_output(d, o).values, voxels_.size());
  EXPECT_EQ(describe_output(d, o).max, static_cast<double>(static_cast<float>(voxels_.back())));
  d.fitted.resize(10);
  d.described.clear();
  EXPECT_EQ(describe_output(d, o).values, 10u);
  EXPECT_EQ(describe_outputs(d).size(), 1u);
  EXPECT_EQ(describe_output(d, *d.find("triple")).min, static_cast<double>(3 * voxels_.front()));
}

INSTANTIATE_TEST_SUITE_P(Along, ResultDraft, ::testing::Values(0, 1, 2));

TEST(MapValues, RefuseASliceThatIsNotThere) {
  const map_values some({1, 2, 3, 4}, 2, {map_values::not_there, 0, 2});
  EXPECT_EQ(some[2], 1);
  EXPECT_EQ(some[5], 4);
  EXPECT_THROW(some[1], std::out_of_range);
}

TEST(ImageDraft, DescribesWhatIsShown) {
  image_grid grid;
  grid.size = {4, 3, 2};
  grid.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  image_draft d(grid);
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  d.add("number", 1, "1", "a number", values);
  d.show({1, 5, 20});
  EXPECT_EQ(describe_output(d, *d.find("number")).median, 5);
  d.show({20, 21});
  EXPECT_EQ(describe_output(d, *d.find("number")).min, 20);
}

}  // namespace
}  // namespace voxherd::report
