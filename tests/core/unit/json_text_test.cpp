#include "core/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/failure.hpp"

namespace voxherd {
namespace {

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
}

TEST(JsonText, HasALimitOfLevels) {
  EXPECT_TRUE(parse_json(nested(max_json_levels), "file").is_array());
  EXPECT_TRUE(parse_ordered_json(nested(max_json_levels), "file").is_array());
  for (const int levels : {max_json_levels + 2, 300000}) {
    try {
      (void)parse_json(nested(levels), "file");
      FAIL() << levels;
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
      EXPECT_STREQ(f.what(), "file: its JSON has too many levels, more than 100");
    }
    EXPECT_THROW((void)parse_ordered_json(nested(levels), "file"), failure);
  }
}

TEST(JsonText, IsDiscardedIfItIsNone) {
  for (const char* text : {"", "{", "nan", "[1,]", "\xff"})
    EXPECT_TRUE(parse_json(text, "file").is_discarded()) << text;
}

}  // namespace
}  // namespace voxherd
