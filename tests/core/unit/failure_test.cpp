#include "core/failure.hpp"
#include "core/current_failure.hpp"

#include <gtest/gtest.h>

#include <filesystem>
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

}  // namespace
}  // namespace voxherd
