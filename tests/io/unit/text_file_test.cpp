#include "src/io/text_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "src/io/number_table.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::scratch_folder;
using testing::write_file;

using words = std::vector<std::string>;

const std::string mark = "\xef\xbb\xbf";  // of UTF-8

/// The text in UTF-16 with the least significant byte first, without a mark.
std::string utf16(const std::string& text) {
  std::string wide;
  for (const char c : text) wide += {c, '\0'};
  return wide;
}

std::string message_for(const std::string& path) {
  try {
    (void)read_text_file(path, "a table");
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::bad_data);
    return f.what();
  }
  return "";
}

TEST(TextFile, HasNeitherAByteOrderMarkNorCarriageReturns) {
  const scratch_folder folder;
  for (const std::string& text :
       {std::string("a b\n\nc\n"), mark + "a b\n\nc\n", std::string("a b\r\n\r\nc\r\n"), mark + "a b\r\rc\r"}) {
    write_file(folder / "text", text);
    EXPECT_EQ(read_text_file(folder / "text"), "a b\n\nc\n");
    EXPECT_EQ(read_text_lines(folder / "text", "a table"), (words{"a b", "", "c"}));
  }
  write_file(folder / "text", "a\r\nb");
  EXPECT_EQ(read_text_lines(folder / "text", "a table"), (words{"a", "b"}));
}

TEST(TextFile, InUtf16IsRefusedWithWhatToDo) {
  const scratch_folder folder;
  const std::string path = folder / "text";
  for (const std::string& text :
       {"\xff\xfe" + utf16("1 A\n"), "\xfe\xff" + std::string{0, 49, 0, 32}, utf16("1 A\n")}) {
    write_file(path, text);
    EXPECT_EQ(message_for(path), path +
                                     ": is a text in UTF-16, expected a table in UTF-8; save it again with the "
                                     "encoding UTF-8 (in Excel: CSV UTF-8)");
  }
}

TEST(TextFile, WithZeroBytesIsRefused) {
  const scratch_folder folder;
  write_file(folder / "text", std::string("1 A\0\n", 5));
  EXPECT_NE(message_for(folder / "text").find("contains binary data, expected a table"), std::string::npos);
}

TEST(NumberTable, HasTheNamesOfItsHeader) {
  const scratch_folder folder;
  const auto names = [&](const std::string& header) {
    write_file(folder / "table", header + "\r\n1,2,3\r\n4,5,6\r\n");
    const number_table t = read_number_table(folder / "table", header_line::allowed);
    EXPECT_EQ(t.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(t.row_line.front(), 2U);
    return t.column_names;
  };
  EXPECT_EQ(names("t_s,arterial,portal"), (words{"t_s", "arterial", "portal"}));
  EXPECT_EQ(names(mark + "\"t_s\", \"arterial curve\" ,portal"), (words{"t_s", "arterial curve", "portal"}));
  EXPECT_EQ(names(",t_s,arterial"), (words{"", "t_s", "arterial"}));
  EXPECT_EQ(names("index,t_s,arterial"), (words{"index", "t_s", "arterial"}));
  EXPECT_EQ(names("time (s)\tarterial, mM\tportal"), (words{"time (s)", "arterial, mM", "portal"}));
  EXPECT_EQ(names("# t_s  arterial portal"), (words{"t_s", "arterial", "portal"}));
}

TEST(NumberTable, HasNoNamesWithoutAHeader) {
  const scratch_folder folder;
  write_file(folder / "table", mark + "1 nan\r3 4\r");
  const number_table t = read_number_table(folder / "table", header_line::allowed);
  EXPECT_TRUE(t.column_names.empty());
  EXPECT_EQ(t.rows, 2U);
  write_file(folder / "table", "nan 1\n3 4\n");
  EXPECT_EQ(read_number_table(folder / "table", header_line::allowed).rows, 2U);
  write_file(folder / "table", "1.2x 1\n3 4\n");
  EXPECT_THROW((void)read_number_table(folder / "table", header_line::allowed), failure);
}

}  // namespace
}  // namespace voxherd
