#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/io/nifti/nifti.hpp"
#include "tests/io/support/crafted_gzip.hpp"

namespace voxherd::testing {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A valid 4 x 3 x 2 float image with values 0..23.
inline crafted_nifti good(int version = 1, std::endian order = std::endian::little) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0F);
  return crafted_nifti(version, order).append(values);
}

class NiftiFile : public ::testing::Test {
 protected:
  std::string put(const bytes& content, const std::string& name = "image.nii") {
    write_file(folder_ / name, content);
    return folder_ / name;
  }

  /// Returns the message of reading the file; checks the status and that the message names the file.
  static std::string refusal(const std::string& path, exit_status status) {
    try {
      read_volume(read_nifti_header(path));
    } catch (const failure& f) {
      EXPECT_EQ(f.status, status) << f.what();
      return one_line(f.what());  // as the program prints it
    }
    ADD_FAILURE() << "read without complaint: " << path;
    return "";
  }

  void expect_refused(const crafted_nifti& image, const std::vector<std::string>& words) {
    const std::string path = put(image.content());
    const std::string line = refusal(path, exit_status::bad_data);
    EXPECT_EQ(line.rfind(path, 0), 0U) << line;
    for (const std::string& word : words) EXPECT_NE(line.find(word), std::string::npos) << word << " in: " << line;
  }

  scratch_folder folder_;
};

}  // namespace voxherd::testing
