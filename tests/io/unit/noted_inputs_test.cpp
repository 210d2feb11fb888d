#include "src/io/noted_inputs.hpp"
#include "src/io/file_state.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::scratch_folder;
using testing::write_file;

class NotedInputs : public ::testing::Test {
 protected:
  NotedInputs() {
    write_file(path_, bytes(5000, 'a'));
    inputs_["dwi"] = fingerprint(path_);
    wait_for_another_time();
  }

  /// File systems keep times in steps of a few milliseconds.
  void wait_for_another_time() const {
    const std::string probe = folder_ / "probe";
    const auto before = find_file_state(path_);
    do write_file(probe, bytes(1, 'x'));
    while (find_file_state(probe)->changed_ns <= before->changed_ns);
  }

  void rewrite_in_place(const bytes& content) const {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }

  std::string refusal() const {
    try {
      check_inputs(inputs_);
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::disk);
      return f.what();
    }
    return "";
  }

  scratch_folder folder_;
  const std::string path_ = folder_ / "data.nii";
  nlohmann::json inputs_;
};

TEST_F(NotedInputs, UnchangedAndTouchedFilesAreAccepted) {
  EXPECT_EQ(refusal(), "");
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(refusal(), "");
  rewrite_in_place(bytes(5000, 'a'));
  EXPECT_EQ(refusal(), "");
  std::filesystem::rename(path_, folder_ / "moved.nii");
  EXPECT_EQ(refusal(), "") << "a file that no longer exists is only logged";
}

TEST_F(NotedInputs, ContentRewrittenInPlaceIsNoticedAlsoIfItsTimeIsRestored) {
  const auto time = std::filesystem::last_write_time(path_);
  rewrite_in_place({'b'});
  std::filesystem::last_write_time(path_, time);
  const std::string line = refusal();
  EXPECT_EQ(line.rfind(path_ + ": was changed during the run", 0), 0U) << line;
}

TEST_F(NotedInputs, AnotherSizeOrAnotherFileOfTheSameNameIsNoticed) {
  write_file(path_, bytes(5001, 'a'));
  EXPECT_NE(refusal().find("found 5001 bytes"), std::string::npos);
  write_file(folder_ / "other.nii", bytes(5000, 'b'));
  std::filesystem::rename(folder_ / "other.nii", path_);
  EXPECT_NE(refusal().find("found 5000 bytes"), std::string::npos);
}

TEST_F(NotedInputs, EachOfSeveralFilesIsCompared) {
  const std::string other = folder_ / "other.nii";
  write_file(other, bytes(10, 'c'));
  inputs_ = {{"series", fingerprint(std::vector<std::string>{other, path_})}};
  wait_for_another_time();
  EXPECT_EQ(refusal(), "");
  rewrite_in_place({'b'});
  EXPECT_EQ(refusal().rfind(path_ + ": was changed during the run", 0), 0U);
}

}  // namespace
}  // namespace voxherd
