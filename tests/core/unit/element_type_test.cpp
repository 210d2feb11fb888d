#include <gtest/gtest.h>

#include "core/analysis.hpp"

TEST(OutputSpec, CountsTheBytesOfAVectorOfFloats) {
  const voxherd::output_spec vector{"V1", voxherd::element_type::float32, {3}, voxherd::output_layout::volume, "1", ""};
  EXPECT_EQ(vector.bytes_per_item(), 12u);
}
