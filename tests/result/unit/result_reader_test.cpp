// What readers of a result may rely on.
#include "mpi/result/result_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/failure.hpp"
#include "core/plan.hpp"
#include "core/step_outputs.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_writer.hpp"
#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

class ResultReader : public ::testing::Test {
 protected:
  ResultReader() {
    layout_.version = "1.0.0";
    layout_.analysis = "made-up";
    layout_.grid.size = {3, 2, 1};
    layout_.grid.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    layout_.item_voxels = voxels_;
    layout_.outputs = {{"number", element_type::uint32, {}, output_layout::items, "1", "a number"},
                       {"pair", element_type::float32, {2}, output_layout::items, "1", "two numbers"}};
    layout_.batches = make_batches(std::vector<std::uint64_t>{0, 2, 3});
    layout_.configuration = nlohmann::json::object();
    layout_.provenance = nlohmann::json::object();
  }

  void add(const std::string& name, std::vector<double> values) {
    const std::uint64_t count = values.size();
    layout_.constants.push_back({name, {count}, std::move(values), "1", "values", "matrix"});
  }
  result_reader make() {
    create_result_file(path_, layout_);
    return result_reader(path_);
  }

  template <class Call>
  static std::string refusal(const Call& call) {
    try {
      call();
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
      return f.what();
    }
    return "";
  }

  std::vector<std::uint64_t> voxels_{0, 4, 5};
  result_layout layout_;
  voxherd::testing::scratch_folder folder_;
  std::string path_ = folder_ / "result.h5";
};

TEST_F(ResultReader, GivesConstantsAsIndicesBelowTheirLimit) {
  add("good", {0, 2, 1});
  for (const auto& [name, value] :
       {std::pair{"large", 3.0}, {"part", 0.5}, {"nan", std::nan("")}, {"infinite", HUGE_VAL}})
    add(name, {0, value});
  add("negative", {0, -1, 18446744073709551615.});
  const result_reader r = make();
  EXPECT_EQ(r.constant_indices("matrix", "good", 3, 3), (std::vector<std::uint64_t>{0, 2, 1}));
  for (const char* name : {"large", "part", "nan", "infinite"}) {
    const std::string text = refusal([&] { r.constant_indices("matrix", name, 2, 3); });
    EXPECT_NE(text.find(std::string("/matrix/") + name + "[1] is "), text.npos) << text;
    EXPECT_NE(text.find("expected a whole number from 0 to 2"), text.npos) << text;
  }
  EXPECT_NE(refusal([&] { r.constant_indices("matrix", "negative", 3, 3); }), "");
  EXPECT_EQ(r.constant_indices("matrix", "negative", 3, 3, index_gaps::negative_is_none),
            (std::vector<std::uint64_t>{0, no_voxel, no_voxel}));
}

TEST_F(ResultReader, RefusesConstantsOfAnotherSize) {
  add("three", {0, 2, 1});
  const result_reader r = make();
  EXPECT_EQ(r.constant_values("matrix", "three", 3).size(), 3u);
  EXPECT_NE(refusal([&] { r.constant_values("matrix", "three", 4); }).find("has 3 values, expected 4"),
            std::string::npos);
  EXPECT_NE(refusal([&] { r.constant_values("matrix", "none", 1); }).find("has no /matrix/none"), std::string::npos);
  EXPECT_TRUE(r.constant_labels("matrix", "none").empty());
  EXPECT_EQ(r.constant_labels("matrix", "three"), (std::vector<std::int32_t>{0, 2, 1}));
}

TEST_F(ResultReader, RefusesRowsOfAnotherType) {
  const result_reader r = make();
  EXPECT_EQ(r.read_rows<std::uint32_t>("number", 0, 3).size(), 3u);
  for (const std::string& text :
       {refusal([&] { r.read_rows<float>("number", 0, 3); }),
        refusal([&] { r.read_rows<std::uint32_t>("number", 1, 3); }), refusal([&] { r.read_points("number", 0, 1); }),
        refusal([&] { r.read_map("number"); }), refusal([&] { r.read_items("pair", 0, 1, 3); }),
        refusal([&] { r.read_indices("pair", 0, 1, 3); }), refusal([&] { r.read_items("none", 0, 1); })})
    EXPECT_NE(text.find(path_), text.npos) << text;
}

TEST_F(ResultReader, KnowsWhetherAllItemsAreInTheImage) {
  EXPECT_EQ(make().image_voxels(), voxels_);
  voxels_[1] = no_voxel;
  EXPECT_NE(refusal([&] { make().image_voxels(); }).find("item 1 is in no voxel"), std::string::npos);
}

TEST_F(ResultReader, IsNotGivenNamesThatArePaths) {
  for (const char* name : {"", ".", "..", "a/b", "../x", "/x", "a\nb", "\x7f"}) {
    layout_.outputs[0].name = name;
    EXPECT_NE(refusal([&] { make(); }).find("expected a name without slashes"), std::string::npos) << name;
  }
  layout_.outputs[0].name = layout_.outputs[1].name;
  EXPECT_NE(refusal([&] { make(); }).find("is listed twice"), std::string::npos);
  layout_.outputs[0].name = std::string(249, 'x');
  EXPECT_NE(refusal([&] { make(); }).find("expected a name of at most 248 bytes"), std::string::npos);
  for (const char* name : {"seeds_to_b c", "a\\b", "déjà", "100%", "-a", "a,b", "..."}) {
    layout_.outputs[0].name = name;
    EXPECT_EQ(make().outputs()[0].name, name);
  }
}

}  // namespace
}  // namespace voxherd
