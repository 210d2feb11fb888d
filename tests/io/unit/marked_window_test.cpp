#include "src/io/gzip/inflated_piece.hpp"

#include <gtest/gtest.h>

#include <random>

namespace voxherd {
namespace {

TEST(MarkedWindow, MarksAreReplacedByTheirBytes) {
  std::mt19937 draw(1);
  std::vector<std::uint8_t> window(deflate_window);
  for (auto& byte : window) byte = static_cast<std::uint8_t>(draw());
  for (const std::size_t count : {0, 1, 31, 32, 33, 1000}) {
    std::vector<std::uint16_t> symbols(count);
    std::vector<std::uint8_t> expected(count), found(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = draw() % deflate_window;
      const bool is_mark = i / 100 % 2 == 0 && draw() % 3 == 0;
      symbols[i] = static_cast<std::uint16_t>(is_mark ? first_mark + at : draw() % 256);
      expected[i] = is_mark ? window[at] : static_cast<std::uint8_t>(symbols[i]);
    }
    mark_replacer(window.data()).replace(symbols.data(), count, found.data());
    EXPECT_EQ(found, expected) << count;
  }
}

TEST(MarkedWindow, AMarkIsFoundAnywhere) {
  for (const std::size_t count : {1, 31, 32, 33, 64, 70}) {
    std::vector<std::uint16_t> symbols(count, 255);
    EXPECT_FALSE(has_marks(symbols.data(), count));
    for (std::size_t at = 0; at < count; ++at) {
      symbols[at] = first_mark;
      EXPECT_TRUE(has_marks(symbols.data(), count)) << count << ", " << at;
      symbols[at] = 0;
    }
  }
}

TEST(MarkedWindow, MarksOfMissingBytesAreDetected) {
  std::vector<std::uint16_t> marks(deflate_window);
  write_marks(marks.data());
  EXPECT_FALSE(has_marks_before(marks.data(), deflate_window, deflate_window));
  EXPECT_TRUE(has_marks_before(marks.data(), deflate_window, deflate_window - 1));
  EXPECT_FALSE(has_marks_before(marks.data() + deflate_window - 10, 10, 10));
  EXPECT_TRUE(has_marks_before(marks.data() + deflate_window - 10, 10, 9));
}

}  // namespace
}  // namespace voxherd
