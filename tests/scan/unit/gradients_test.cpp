#include "src/scan/gradients.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <clocale>
#include <cmath>
#include <locale>
#include <sstream>

#include "core/failure.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::scratch_folder;
using testing::write_file;

const std::string four_b = "0 1000 1000 2000\n";
const std::string four_rows = "0 1 0 0\n0 0 1 0\n0 0 0 1\n";

class Gradients : public ::testing::Test {
 protected:
  gradient_table read(const std::string& b, const std::string& g, std::uint64_t volumes = 4) {
    write_file(bvals_, b);
    write_file(bvecs_, g);
    return read_gradients(bvals_, bvecs_, volumes);
  }

  void expect_four(const gradient_table& t) {
    EXPECT_EQ(t.b_s_per_mm2, (std::vector<double>{0, 1000, 1000, 2000}));
    EXPECT_EQ(t.x, (std::vector<double>{0, 1, 0, 0}));
    EXPECT_EQ(t.y, (std::vector<double>{0, 0, 1, 0}));
    EXPECT_EQ(t.z, (std::vector<double>{0, 0, 0, 1}));
  }

  /// `file` is "bvals" or "bvecs": the file that the message must name.
  void expect_refused(const std::string& b, const std::string& g, const char* file,
                      const std::vector<std::string>& words, std::uint64_t volumes = 4) {
    try {
      read(b, g, volumes);
      ADD_FAILURE() << "read without complaint: " << b << " / " << g;
    } catch (const failure& f) {
      const std::string line = f.what();
      EXPECT_EQ(f.status, exit_status::bad_data) << line;
      EXPECT_EQ(line.rfind(folder_ / file, 0), 0U) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      for (const auto& word : words) EXPECT_NE(line.find(word), std::string::npos) << word << " in: " << line;
    }
  }

  std::string collect_warnings(const std::string& b, const std::string& g) {
    std::ostringstream said;
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said)));
    read(b, g);
    spdlog::set_default_logger(before);
    return said.str();
  }

  scratch_folder folder_;
  std::string bvals_ = folder_ / "bvals", bvecs_ = folder_ / "bvecs";
};

TEST_F(Gradients, RowsAndColumnsReadAlike) {
  expect_four(read(four_b, four_rows));
  expect_four(read("0\n1000\n1000\n2000\n", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"));
}

TEST_F(Gradients, ThreeByThreeIsTakenAsThreeRows) {
  const auto t = read("0 1000 1000", "0 1 0\n0 0 0.6\n0 0 0.8\n", 3);
  EXPECT_EQ(t.x[1], 1);
  EXPECT_NEAR(t.y[2], 0.6, 1e-15);
  EXPECT_NEAR(t.z[2], 0.8, 1e-15);
}

TEST_F(Gradients, AnyWhiteSpaceCommasLineEndsAndByteOrderMarkReadAlike) {
  expect_four(
      read("\xef\xbb\xbf"
           "0\t1000  1e3 +2000  ",
           "0 1 0 0\r\n0 0 1 0\r\n0 0 0 1\r\n\r\n  \r\n"));
  expect_four(read("0,1000,1000,2000", "0, 1, 0, 0\n0, 0, 1, 0,\n0 ,0 ,0 ,1\n"));
  expect_four(
      read("0\xc2\xa0"
           "1000\v1000\f2000",
           "\n\n0 1 0 0\r0 0 1 0\r0 0 0 1"));
}

struct decimal_comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST_F(Gradients, TheLocaleDoesNotMatter) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new decimal_comma));
  const char* c_locale = std::setlocale(LC_ALL, "de_DE.UTF-8");  // if installed
  const auto t = read("0 1000.5 1000 2000", four_rows);
  std::locale::global(before);
  if (c_locale != nullptr) std::setlocale(LC_ALL, "C");
  EXPECT_EQ(t.b_s_per_mm2[1], 1000.5);
}

TEST_F(Gradients, DirectionsAreNormalisedWithAWarning) {
  EXPECT_NE(collect_warnings(four_b, "0 1.1 0 0\n0 0 0.9 0\n0 0 0 1\n").find("unit"), std::string::npos);
  expect_four(read(four_b, "0 1.1 0 0\n0 0 0.9 0\n0 0 0 1\n"));
  EXPECT_EQ(collect_warnings(four_b, "0 1.0001 0 0\n0 0 0.9999 0\n0 0 0 1\n"), "");
}

TEST_F(Gradients, SmallBCountsAsZero) {
  EXPECT_EQ(read("5 1000 1000 2000", four_rows).b_s_per_mm2[0], 5);
  EXPECT_EQ(read("50 1000 1000 2000", four_rows).b_s_per_mm2[0], 50);
  expect_refused("51 1000 1000 2000", "1 1 0 0\n0 0 1 0\n0 0 0 1\n", "bvals", {"smallest", "51", "50"});
}

TEST_F(Gradients, NanAsTheDirectionOfAnUnweightedVolumeIsNoDirection) {
  expect_four(read(four_b, "nan 1 0 0\nnan 0 1 0\nnan 0 0 1\n"));
}

TEST_F(Gradients, CountsMustMatchTheImage) {
  expect_refused("0 1000 1000", four_rows, "bvals", {"3", "expected 4"});
  expect_refused("0 1000 1000 2000 2000", four_rows, "bvals", {"5", "expected 4"});
  expect_refused(four_b, "0 1 0\n0 0 1\n0 0 0\n", "bvecs", {"3", "expected 4"});
  expect_refused(four_b, "0 1 0 0 1\n0 0 1 0 0\n0 0 0 1 0\n", "bvecs", {"5", "expected 4"});
}

TEST_F(Gradients, SwappedOrRepeatedFilesAreRecognised) {
  expect_refused(four_rows, four_b, "bvals", {"3 rows", "swapped", "bvecs"});
  expect_refused(four_b, four_b, "bvecs", {"1 row", "looks like a bvals file"});
  expect_refused(four_rows, four_rows, "bvals", {"3 rows", "looks like a bvecs file"});
}

TEST_F(Gradients, WrongShapesAreRejected) {
  expect_refused(four_b, "0 1 0 0\n0 0 1 0\n", "bvecs", {"2 rows of 4", "three rows or three columns"});
  expect_refused("0 1000\n1000 2000\n", four_rows, "bvals", {"2 rows of 2", "one row or one column"});
  expect_refused(four_b, "0 1 0 0\n0 0 1\n0 0 0 1\n", "bvecs", {"line 2", "3 values", "4 as in line 1"});
  expect_refused("", four_rows, "bvals", {"no number"});
  expect_refused(four_b, " \n\n", "bvecs", {"no number"});
}

TEST_F(Gradients, InvalidNumbersAreRejectedWithTheirLine) {
  expect_refused("0 1000 1000 x", four_rows, "bvals", {"line 1", "\"x\"", "a number"});
  expect_refused("0 1000 1000 2000s", four_rows, "bvals", {"\"2000s\""});
  expect_refused("0 1000 1000 1e999", four_rows, "bvals", {"1e999"});
  expect_refused("0,,1000,1000", four_rows, "bvals", {"empty value"});
  expect_refused("0;1000;1000;2000", four_rows, "bvals", {"0;1000"});
  expect_refused(four_b, "0 1 0 0\n0 0 0,5 0\n0 0 0 1\n", "bvecs", {"line 2", "\"0,5\"", "decimal point"});
  expect_refused(four_b, "0 1 0 0\n0 0 -0,5 0\n0 0 0 1\n", "bvecs", {"line 2", "\"-0,5\"", "decimal point"});
  expect_refused(std::string("0 1\0 2", 6), four_rows, "bvals", {"binary"});
}

TEST_F(Gradients, BValuesMustBeFiniteAndNotNegative) {
  expect_refused("0 nan 1000 2000", four_rows, "bvals", {"volume 1", "nan", "finite"});
  expect_refused("0 1000 inf 2000", four_rows, "bvals", {"volume 2", "inf", "finite"});
  expect_refused("0\n1000\n1000\n-5\n", four_rows, "bvals", {"line 4", "volume 3", "-5", "at least 0"});
}

TEST_F(Gradients, DirectionsMustBeFiniteUnitVectorsWhereBIsAboveZero) {
  expect_refused(four_b, "0 1 nan 0\n0 0 1 0\n0 0 0 1\n", "bvecs", {"volume 2", "nan", "finite"});
  expect_refused(four_b, "inf 1 0 0\n0 0 1 0\n0 0 0 1\n", "bvecs", {"volume 0", "inf", "finite"});
  expect_refused(four_b, "0 1 0 0\n0 0 0 0\n0 0 0 1\n", "bvecs", {"volume 2", "(0, 0, 0)", "unit vector"});
  expect_refused(four_b, "0 2 0 0\n0 0 1 0\n0 0 0 1\n", "bvecs", {"volume 1", "length is 2"});
}

TEST_F(Gradients, UnitsOtherThanSecondsPerSquareMillimetreAreRecognised) {
  expect_refused("0 1 1 2", four_rows, "bvals", {"largest", "2", "ms/um2"});
  expect_refused("0 1e9 1e9 2e9", four_rows, "bvals", {"largest", "s/m2"});
  expect_refused("0 0 0 0", four_rows, "bvals", {"largest", "0", "no volume is diffusion-weighted"});
}

TEST_F(Gradients, MissingFileIsMissingInput) {
  write_file(bvecs_, four_rows);
  try {
    read_gradients(folder_ / "absent", bvecs_, 4);
    ADD_FAILURE() << "read without complaint";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::missing_input);
    EXPECT_NE(std::string(f.what()).find("absent"), std::string::npos);
  }
}

}  // namespace
}  // namespace voxherd
