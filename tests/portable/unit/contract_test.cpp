#include "kernels/portable/contract.hpp"

#include <gtest/gtest.h>

#include <array>

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/tensor_field/prepare_steps.hpp"

using namespace voxherd;

namespace {

struct one_output {
  static constexpr output table[] = {{"value", element_type::float32, 1, "1", "a number"}};
};

signal_row two_floats(const std::array<float, 3>& floats) { return signal_row{floats.data(), 1}.limited_to(2); }

#if defined(NDEBUG)

// What a kernel takes by value is as small as without contracts.
static_assert(sizeof(signal_row) == 2 * sizeof(void*));
static_assert(sizeof(output_arrays<one_output>) == sizeof(void*));

TEST(Contracts, AreNotInThisBuild) {
  const std::array<float, 3> floats{1, 2, 3};
  EXPECT_EQ(two_floats(floats)[2], 3);
}

#else

TEST(ContractsDeathTest, ARowIsReadOnlyWithinItsFloats) {
  const std::array<float, 3> floats{1, 2, 3};
  EXPECT_EQ(two_floats(floats)[1], 2);
  EXPECT_DEATH(two_floats(floats)[2], "k < count");
}

TEST(ContractsDeathTest, OutputsAreStoredOnlyForItemsOfTheBatch) {
  output_memory<one_output> memory(3);
  const auto out = memory.arrays();
  out.put<"value">(2, 1.0);
  EXPECT_DEATH(out.put<"value">(3, 1.0), "item < items");
  EXPECT_DEATH(out.put_float(0, 3, 1), "item < items");
  EXPECT_DEATH(out.put_float(1, 0, 1), "i < count");
}

TEST(ContractsDeathTest, ARunsOutputsKnowTheirItems) {
  std::array<float, 3> values{};
  const std::array<std::span<std::byte>, 1> outputs{std::as_writable_bytes(std::span(values))};
  const auto out = arrays_in<one_output>(outputs);
  out.put<"value">(2, 1.0);
  EXPECT_EQ(values[2], 1);
  EXPECT_DEATH(out.put<"value">(3, 1.0), "item < items");
}

TEST(ContractsDeathTest, AFieldIsPreparedOnlyInItsVoxels) {
  std::array<float, 12> numbers{};
  const tensor_field::prepare::planes planes{numbers.data(), 2};
  planes.at(5, 1) = 1;
  EXPECT_DEATH(planes.at(0, 2) = 1, "i < voxels");
  const tensor_field::prepare::grid grid{2, 3, 4};
  int x, y, z;
  grid.place(23, x, y, z);
  EXPECT_EQ(z, 3);
  EXPECT_DEATH(grid.place(24, x, y, z), "i < voxels");
}

TEST(ContractsDeathTest, APackedTriangleHasNoElementAboveItsDiagonal) {
  const int row = 1;
  EXPECT_EQ(packed_index(row, 1), 2);
  EXPECT_DEATH((void)packed_index(row, 2), "column <= row");
}

#endif

}  // namespace
