#include <gtest/gtest.h>

#include <fstream>

#include "core/failure.hpp"
#include "src/analyses/perfusion/curve_table.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/io/temporary_folder.hpp"

namespace voxherd::curve_table_test {

using curve = std::vector<double>;

const curve frame_s{0, 10, 20};
const curve artery{0, 3, 1}, portal_vein{0, 1, 2};

/// A text file that is removed at the end.
class written_table {
 public:
  explicit written_table(const std::string& text) : path_(folder_.file("table.csv")) { std::ofstream(path_) << text; }
  curve read(curve_input input, const char* option = "curves") const {
    return read_curve(path_, input, option, frame_s);
  }
  std::string refusal(curve_input input, const char* option = "curves") const {
    try {
      read(input, option);
    } catch (const failure& e) {
      return e.what();
    }
    return "";
  }
  curve times(std::size_t count) const {
    perfusion_settings o;
    o.times = path_;
    return read_frame_times(o, count, "series");
  }
  std::string refused_times(std::size_t count) const {
    try {
      times(count);
    } catch (const failure& e) {
      return e.what();
    }
    return "";
  }

 private:
  temporary_folder folder_{"curves"};
  std::string path_;
};

void expect_both(const std::string& text) {
  const written_table table(text);
  EXPECT_EQ(table.read(curve_input::arterial), artery) << text;
  EXPECT_EQ(table.read(curve_input::portal), portal_vein) << text;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(perfusion_curve_table, without_names_is_read_in_the_order_of_its_columns) {
  expect_both("0 0 0\n10 3 1\n20 1 2\n");
}

TEST(perfusion_curve_table, is_read_by_its_names_in_any_order) {
  expect_both("t_s,arterial,portal\n0,0,0\n10,3,1\n20,1,2\n");
  expect_both("time,portal,arterial\n0,0,0\n10,1,3\n20,2,1\n");
  expect_both("PIF\tAIF\tTime\n0\t0\t0\n1\t3\t10\n2\t1\t20\n");
  expect_both("# portal_vein aorta t\n0 0 0\n1 3 10\n2 1 20\n");
  expect_both("\"VIF (mM)\",\"arterial input function [mM]\",\"time (s)\"\n0,0,0\n1,3,10\n2,1,20\n");
  expect_both("vein (mM) artery (mM) time (s)\n0 0 0\n1 3 10\n2 1 20\n");
}

TEST(perfusion_curve_table, may_have_an_index_and_other_columns) {
  expect_both(",time,aorta,portal\n0,0,0,0\n3,10,3,1\n6,20,1,2\n");
  expect_both("Unnamed: 0,time,aorta,portal\n0,0,0,0\n3,10,3,1\n6,20,1,2\n");
  expect_both("time aorta portal\n0 0 0 0\n1 10 3 1\n2 20 1 2\n");
  expect_both("tissue,t_s,counted,portal,arterial\n7,0,1,0,0\n8,10,1,1,3\n9,20,0,2,1\n");
}

TEST(perfusion_curve_table, converts_the_units_that_its_names_have) {
  expect_both("time (min),aorta,portal\n0,0,0\n0.16666666666666666,3,1\n0.3333333333333333,1,2\n");
  expect_both("t_ms,aorta,portal\n0,0,0\n10000,3,1\n20000,1,2\n");
  expect_both("time,aorta (uM),portal_mM\n0,0,0\n10,3000,1\n20,1000,2\n");
  expect_contains(written_table("time (h),aorta,portal\n0,0,0\n1,3,1\n").refusal(curve_input::arterial),
                  "unknown unit \"h\", expected s, ms or min");
}

TEST(perfusion_curve_table, of_one_curve_may_give_it_any_name_but_that_of_the_other_input) {
  const written_table table("frame,time,Cp\n0,0,0\n1,10,3\n2,20,1\n");
  EXPECT_EQ(table.read(curve_input::arterial, "arterial-curve"), artery);
  EXPECT_EQ(written_table("roi mean,time\n0,0\n3,10\n1,20\n").read(curve_input::arterial, "arterial-curve"), artery);
  expect_contains(written_table("time,portal\n0,0\n10,3\n20,1\n").refusal(curve_input::arterial, "arterial-curve"),
                  "none of its columns \"time\", \"portal\" are arterial, expected one");
}

TEST(perfusion_curve_table, with_names_that_are_not_understood_is_refused_with_those_that_are) {
  const std::string text = written_table("x,y,z\n0,0,0\n10,3,1\n20,1,2\n").refusal(curve_input::arterial);
  expect_contains(text, "none of its columns \"x\", \"y\", \"z\" are time, expected one; understood are time");
  expect_contains(written_table("time,aorta,artery,portal\n0,0,0,0\n9,1,1,1\n").refusal(curve_input::arterial),
                  "2 of its columns");
  expect_contains(written_table("time,aorta\n0,0,0,0\n10,3,1,1\n").refusal(curve_input::portal),
                  "has 2 names, \"time\", \"aorta\", but the lines of numbers have 4 columns");
}

TEST(perfusion_curve_table, below_a_comment_is_read_in_the_order_of_its_columns) {
  expect_both("# measured on Monday by somebody\n0 0 0\n10 3 1\n20 1 2\n");
  expect_both("# measured on a Monday\n0 0 0\n10 3 1\n20 1 2\n");
  expect_both("# patient number three\n0 0 0\n10 3 1\n20 1 2\n");
  expect_both("# by a patient\n# time aif pif\n0 0 0\n10 3 1\n20 1 2\n");
  expect_both("# a patient\ntime pif aif\n0 0 0\n10 1 3\n20 2 1\n");
}

TEST(perfusion_times, are_read_by_their_name) {
  const curve expected{0, 2, 4, 6, 8, 10};
  EXPECT_EQ(written_table("frame,t_s\n0,0\n1,2\n2,4\n3,6\n4,8\n5,10\n").times(6), expected);
  EXPECT_EQ(written_table("time_ms\n0\n2000\n4000\n6000\n8000\n10000\n").times(6), expected);
  EXPECT_EQ(written_table("0 2 4 6 8 10\n").times(6), expected);
  expect_contains(written_table("0 0\n1 2\n2 4\n").refused_times(6),
                  "6 numbers in 3 rows, expected 6 in one column or row");
  expect_contains(written_table("a,b\n0,0\n1,2\n").refused_times(2), "understood are time");
}

TEST(perfusion_times, of_a_clock_are_refused) {
  const std::string text = written_table("121054.5\n121057\n121059.5\n121102\n121104.5\n121107\n").refused_times(6);
  expect_contains(text, "frame 2 is at 121059.5, frame 3 at 121102");
  expect_contains(text, "give seconds: 3600 HH + 60 MM + SS");
  // 00:10:50 to 00:12:10
  EXPECT_NE(written_table("1050\n1100\n1110\n1120\n1130\n1140\n1150\n1200\n1210\n").refused_times(9), "");
}

TEST(perfusion_times, in_seconds_are_no_clock) {
  for (const char* text : {"0\n50\n100\n150\n200\n250\n300\n", "43200\n43202\n43204\n43206\n43208\n43210\n43212\n",
                           "0\n10\n20\n30\n40\n50\n100\n", "50000\n50040\n50100\n50140\n50200\n50240\n50300\n"})
    EXPECT_EQ(written_table(text).times(7).size(), 7U) << text;
}

}  // namespace voxherd::curve_table_test
