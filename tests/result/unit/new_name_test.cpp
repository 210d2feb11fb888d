#include "mpi/result/file_names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

namespace fs = std::filesystem;

class named_files : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  voxherd::testing::scratch_folder scratch_;
  fs::path folder_ = scratch_.path();
};

using way = int (*)(const std::string&, const std::string&);
class new_name : public named_files, public ::testing::WithParamInterface<way> {};

TEST_P(new_name, MovesTheFile) {
  const std::string from = file("from", "own");
  ASSERT_EQ(GetParam()(from, path("to")), 0);
  EXPECT_EQ(text_of(path("to")), "own");
  EXPECT_FALSE(fs::exists(from));
}

TEST_P(new_name, KeepsAFileThatHasTheName) {
  const std::string from = file("from", "own"), to = file("to", "precious");
  EXPECT_EQ(GetParam()(from, to), EEXIST);
  EXPECT_EQ(text_of(to), "precious");
  EXPECT_EQ(text_of(from), "own");
}

TEST_P(new_name, KeepsALinkThatLeadsNowhere) {
  const std::string from = file("from", "own"), to = path("to");
  fs::create_symlink("missing", to);
  EXPECT_EQ(GetParam()(from, to), EEXIST);
  EXPECT_TRUE(fs::is_symlink(to));
}

TEST_P(new_name, TellsWhyItFails) {
  EXPECT_EQ(GetParam()(path("missing"), path("to")), ENOENT);
  EXPECT_EQ(GetParam()(file("from", "own"), path("missing/to")), ENOENT);
}

std::string name_method(const ::testing::TestParamInfo<new_name::ParamType>& info) {
  constexpr std::array names = {"rename", "rename_without_replacing", "link_then_unlink", "check_then_rename"};
  return names.at(info.index);
}

INSTANTIATE_TEST_SUITE_P(methods, new_name,
                         ::testing::Values(&rename_to_new_name, &rename_without_replacing, &link_then_unlink,
                                           &check_then_rename),
                         name_method);

TEST_F(named_files, ALinkMadeByALostRequestIsTaken) {
  const std::string from = file("from", "own"), to = path("to");
  fs::create_hard_link(from, to);
  EXPECT_EQ(link_then_unlink(from, to), 0);
  EXPECT_EQ(text_of(to), "own");
  EXPECT_FALSE(fs::exists(from));
}

}  // namespace
}  // namespace voxherd
