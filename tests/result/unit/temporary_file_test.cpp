#include "mpi/result/temporary_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace voxherd {
namespace {

namespace fs = std::filesystem;

class TemporaryFile : public ::testing::Test {
 protected:
  std::string text_of(const std::string& name) {
    std::ifstream file(name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  static void write(temporary_file& file, const std::string& text) {
    ASSERT_EQ(::write(file.descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  voxherd::testing::scratch_folder folder_;
};

TEST_F(TemporaryFile, HasItsNameWhenItIsRenamedAndLeavesNothingOtherwise) {
  {
    temporary_file file(folder_ / "out");
    ASSERT_EQ(file.error(), 0);
    EXPECT_EQ(file.name(), std::string(folder_ / "out") + ".voxherd-part");
  }
  EXPECT_TRUE(names().empty());
  temporary_file file(folder_ / "out");
  write(file, "new");
  EXPECT_EQ(file.close_file(), 0);
  EXPECT_EQ(file.rename(existing_file::replaced), 0);
  EXPECT_EQ(names(), (std::vector<std::string>{"out"}));
  EXPECT_EQ(text_of(folder_ / "out"), "new");
}

TEST_F(TemporaryFile, OfTwoWritersIsOneEach) {
  temporary_file first(folder_ / "out"), second(folder_ / "out");
  EXPECT_NE(first.name(), second.name());
  write(first, "first");
  write(second, "second");
  EXPECT_EQ(first.close_file(), 0);
  temporary_file third(folder_ / "out");  // the first one is closed and not yet renamed: it is still held
  EXPECT_NE(third.name(), first.name());
  EXPECT_EQ(first.rename(existing_file::replaced), 0);
  EXPECT_EQ(text_of(folder_ / "out"), "first");
  EXPECT_EQ(second.rename(existing_file::kept), EEXIST);
  EXPECT_EQ(second.rename(existing_file::replaced), 0);
  EXPECT_EQ(text_of(folder_ / "out"), "second");
}

TEST_F(TemporaryFile, OfAKilledWriterIsRemovedByTheNextOne) {
  std::ofstream(std::string(folder_ / "out") + ".voxherd-part") << "a part";
  const temporary_file file(folder_ / "out");
  EXPECT_EQ(file.name(), std::string(folder_ / "out") + ".voxherd-part");
  EXPECT_EQ(names().size(), 1u);
  EXPECT_EQ(fs::file_size(file.name()), 0u);
}

TEST_F(TemporaryFile, LeavesWhatIsNoFileOfAWriter) {
  std::ofstream(folder_ / "precious") << "mine";
  const std::string part = std::string(folder_ / "out") + ".voxherd-part";
  fs::create_symlink("precious", part);
  ASSERT_EQ(mkfifo((part + "2").c_str(), 0600), 0);
  fs::create_directory(part + "3");
  {
    const temporary_file file(folder_ / "out");
    EXPECT_EQ(file.name(), part + "4");
  }
  EXPECT_EQ(names(),
            (std::vector<std::string>{"out.voxherd-part", "out.voxherd-part2", "out.voxherd-part3", "precious"}));
  EXPECT_EQ(text_of(folder_ / "precious"), "mine");
}

TEST_F(TemporaryFile, ReplacesALinkInItsPlace) {
  std::ofstream(folder_ / "precious") << "mine";
  fs::create_symlink("precious", folder_ / "out");
  temporary_file file(folder_ / "out");
  write(file, "new");
  EXPECT_EQ(file.rename(existing_file::replaced), 0);
  EXPECT_FALSE(fs::is_symlink(folder_ / "out"));
  EXPECT_EQ(text_of(folder_ / "precious"), "mine");
}

TEST_F(TemporaryFile, OfTheLongestNameCanBeCreated) {
  const std::string name(255, 'n');
  temporary_file file(folder_ / name);
  ASSERT_EQ(file.error(), 0);
  EXPECT_EQ(file.rename(existing_file::kept), 0);
  EXPECT_EQ(names(), (std::vector<std::string>{name}));
}

TEST_F(TemporaryFile, ReportsWhyItCannotBeCreated) { EXPECT_EQ(temporary_file(folder_ / "none/out").error(), ENOENT); }

}  // namespace
}  // namespace voxherd
