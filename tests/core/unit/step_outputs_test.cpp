#include "core/step_outputs.hpp"

#include <gtest/gtest.h>

#include "kernels/portable/output_rows.hpp"

namespace voxherd {

namespace {

struct toy_inputs {
  std::uint64_t places = 0;
  bool lengths = false;
};

struct toy_outputs {
  using inputs = toy_inputs;
  using shape = std::vector<std::uint64_t>;
  static shape places(const inputs& in) { return {in.places}; }
  static bool has_lengths(const inputs& in) { return in.lengths; }
  static std::string unit(const inputs& in) { return in.lengths ? "mm" : "s"; }

  static constexpr step_output<inputs> table[] = {
      {"density", element_type::uint32, 0, "1", "visits", {.shape = places}},
      {"length", element_type::uint64, 0, "steps", "sum of lengths", {.shape = places, .when = has_lengths}},
      {"position", element_type::float32, 3, "mm", "place", {.layout = output_layout::points}},
      {"cost", element_type::float64, 1, "", "cost", {.unit = unit}},
  };
};

std::vector<std::string> names(const toy_inputs& in) {
  std::vector<std::string> all;
  for (const output_spec& o : output_specs<toy_outputs>(in)) all.push_back(o.name);
  return all;
}

}  // namespace

TEST(StepOutputs, AreThoseWhoseConditionHolds) {
  EXPECT_EQ(names({5, true}), (std::vector<std::string>{"density", "length", "position", "cost"}));
  EXPECT_EQ(names({5, false}), (std::vector<std::string>{"density", "position", "cost"}));
}

TEST(StepOutputs, HaveTheShapeUnitAndBytesOfTheirInputs) {
  const auto specs = output_specs<toy_outputs>({5, true});
  EXPECT_EQ(specs[0].shape, std::vector<std::uint64_t>{5});
  EXPECT_EQ(specs[2].shape, std::vector<std::uint64_t>{3});
  EXPECT_EQ(specs[2].layout, output_layout::points);
  EXPECT_TRUE(specs[3].shape.empty());
  EXPECT_EQ(specs[3].layout, output_layout::items);
  EXPECT_EQ(specs[3].unit, "mm");
  EXPECT_EQ(output_specs<toy_outputs>({5, false})[2].unit, "s");
  EXPECT_EQ(output_bytes_per_item<toy_outputs>({5, true}), 5 * 4 + 5 * 8 + 3 * 4 + 8u);
  EXPECT_EQ(output_bytes_per_item<toy_outputs>({5, false}), 5 * 4 + 3 * 4 + 8u);
}

TEST(StepOutputs, AreFoundByNameAlsoAfterOneThatDoesNotExist) {
  const toy_inputs in{2, false};
  std::vector<std::uint32_t> density{1, 2, 3, 4};
  std::vector<float> position(6);
  std::vector<double> cost(2);
  const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(density)),
                                                  std::as_writable_bytes(std::span(position)),
                                                  std::as_writable_bytes(std::span(cost))};
  const auto out = arrays_in<toy_outputs>(outputs, chosen_outputs<toy_outputs>(in));
  EXPECT_EQ(out.values<"length">(), nullptr);
  out.put<"cost">(1, 2.5);
  EXPECT_EQ(cost[1], 2.5);

  const std::vector<std::span<const std::byte>> received(outputs.begin(), outputs.end());
  const output_rows<toy_outputs> rows(received, chosen_outputs<toy_outputs>(in));
  EXPECT_TRUE(rows.values<"length">().empty());
  EXPECT_EQ(rows.values<"density">().size(), 4u);
  EXPECT_EQ(rows.values<"density">()[3], 4u);
  EXPECT_EQ(rows.values<"cost">()[1], 2.5);
}

}  // namespace voxherd
