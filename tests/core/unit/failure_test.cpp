#include "core/failure.hpp"
#include "core/current_failure.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

namespace voxherd {
namespace {

exit_status status_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    return current_failure().status;
  }
}

template <class Error>
std::string text_of(const Error& error) {
  try {
    throw error;
  } catch (...) {
    return current_failure().what();
  }
}

exit_status status_of(std::errc code) {
  return status_of(
      std::make_exception_ptr(std::filesystem::filesystem_error("what", "path", std::make_error_code(code))));
}

TEST(Failure, ErrorsOfFilesAreNotDefectsOfTheProgram) {
  EXPECT_EQ(status_of(std::errc::too_many_symbolic_link_levels), exit_status::usage);
  EXPECT_EQ(status_of(std::errc::filename_too_long), exit_status::usage);
  EXPECT_EQ(status_of(std::errc::no_such_file_or_directory), exit_status::missing_input);
  EXPECT_EQ(status_of(std::errc::directory_not_empty), exit_status::disk);
  EXPECT_EQ(status_of(std::errc::no_space_on_device), exit_status::disk);
}

TEST(Failure, AnErrorOfFilesNamesThemAndTheReason) {
  const std::error_code code = std::make_error_code(std::errc::filename_too_long);
  EXPECT_EQ(text_of(std::filesystem::filesystem_error("status", "a/b", code)), "a/b: File name too long");
  EXPECT_EQ(text_of(std::filesystem::filesystem_error("rename", "a", "b", code)), "a, b: File name too long");
  EXPECT_NE(text_of(std::filesystem::filesystem_error("current path", code)).find("File name too long"),
            std::string::npos);
}

TEST(Failure, OtherErrorsAreDefects) {
  EXPECT_EQ(status_of(std::make_exception_ptr(std::logic_error("x"))), exit_status::internal_error);
  EXPECT_EQ(status_of(std::errc::resource_unavailable_try_again), exit_status::internal_error);
  EXPECT_EQ(status_of(std::make_exception_ptr(failure(exit_status::disk, "x"))), exit_status::disk);
}

/// "65: the message", or "none".
std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const failure& f) {
    return fmt::format("{}: {}", static_cast<int>(f.status), f.what());
  }
  return "none";
}

TEST(Failure, EachBuilderHasItsStatusAndFormatsTheMessage) {
  const std::string file = "a.nii";
  EXPECT_EQ(failure_of([&] { refuse_usage("--b {}: expected {:g}", "x", 0.5); }), "2: --b x: expected 0.5");
  EXPECT_EQ(failure_of([&] { refuse_data("{}: line {}: found {}", file, 3, "\"y\""); }),
            "65: a.nii: line 3: found \"y\"");
  EXPECT_EQ(failure_of([&] { refuse_missing("{}: no such file", file); }), "66: a.nii: no such file");
  EXPECT_EQ(failure_of([&] { fail_on_disk("{}: {} bytes are missing", file, 7); }), "74: a.nii: 7 bytes are missing");
}

TEST(Failure, AMessageWithoutValuesStaysAsItIs) {
  const std::string object = "expected {\"b\": {}}";
  EXPECT_EQ(failure_of([&] { refuse_usage(object); }), "2: " + object);
  EXPECT_EQ(failure_of([&] { refuse_data("expected {\"b\": {}}"); }), "65: " + object);
  EXPECT_EQ(failure_of([&] { refuse_missing("a" + object); }), "66: a" + object);
  EXPECT_EQ(failure_of([&] { fail_on_disk(EIO, object); }), "74: " + object + ": Input/output error");
}

TEST(Failure, OfADiskHasTheReasonAndWhatToDoIfItIsFull) {
  const std::string file = "a.h5";
  EXPECT_EQ(failure_of([&] { fail_on_disk(EIO, "reading {}", file); }), "74: reading a.h5: Input/output error");
  EXPECT_EQ(failure_of([&] { fail_on_disk(ENOSPC, "{}: cannot be written", file); }),
            "74: a.h5: cannot be written: No space left on device; free some space and repeat the command");
  EXPECT_EQ(failure_of([&] { fail_on_disk(EDQUOT, file); }),
            "74: a.h5: Disk quota exceeded; free some space and repeat the command");
}

}  // namespace
}  // namespace voxherd
