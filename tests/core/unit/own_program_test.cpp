#include "core/own_program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace voxherd {
namespace {

TEST(OwnProgram, IsAFileThatCanBeStarted) {
  EXPECT_TRUE(std::filesystem::is_regular_file(own_program())) << own_program();
  EXPECT_EQ(access(own_program_to_start().c_str(), X_OK), 0);
}

TEST(OwnProgram, KnowsTheWordsOfItsStart) {
  char name[] = "voxherd", word[] = "info", *argv[] = {name, word, nullptr};
  note_program_start(2, argv);
  EXPECT_EQ(initial_words(), std::vector<std::string>{"info"});
  setenv("VOXHERD_TEST_LATER", "1", 1);
  const auto& variables = initial_environment();
  EXPECT_EQ(std::count(variables.begin(), variables.end(), "VOXHERD_TEST_LATER=1"), 0);
  unsetenv("VOXHERD_TEST_LATER");
  note_program_start(0, nullptr);
}

}  // namespace
}  // namespace voxherd
