#include "src/analyses/geodesic/inputs.hpp"

#include <gtest/gtest.h>

#include "kernels/tensor_field/field.hpp"

namespace voxherd {
namespace {

namespace region = tensor_field::region;
using voxels = std::vector<std::uint64_t>;

TEST(Regions, EachImageSetsItsOwnBits) {
  region_words words({1, 0, 1, 1});
  words.exclude(voxels{1, 2});
  words.include(0, voxels{2});
  words.include(13, voxels{2, 3});
  EXPECT_EQ(words.words(), (std::vector<std::uint32_t>{1, 2, 1 | 2 | 4 | 4u << 13, 1 | 4u << 13}));
  EXPECT_LT(region::first_include << 13, 1u << region::target_shift);
}

TEST(Regions, TargetsAreNumberedByIncreasingLabelAndFoundAgain) {
  label_image image;
  image.label = {0, 30, 2, 7, 30};
  image.values = {2, 7, 30};
  region_words all({1, 1, 1, 0, 1});
  all.targets(image, {});
  EXPECT_EQ(all.target_labels(), (std::vector<std::int64_t>{2, 7, 30}));
  for (std::size_t v = 0; v < 5; ++v) {
    const std::uint32_t number = all.words()[v] >> region::target_shift;
    EXPECT_EQ(number == 0 ? 0 : all.target_labels()[number - 1], image.label[v]);
    EXPECT_EQ(all.words()[v] & 0xffffu, v == 3 ? 0u : 1u);
  }
  region_words some({1, 1, 1, 0, 1});
  some.targets(image, {7, 30});
  EXPECT_EQ(some.target_labels(), (std::vector<std::int64_t>{7, 30}));
  EXPECT_EQ(some.words()[2], 1u);
  EXPECT_EQ(some.words()[3], 1u << 16);
  EXPECT_EQ(some.words()[4], 1u | 2u << 16);
}

TEST(Regions, TooManyLabelsAreRejected) {
  label_image image;
  image.path = "many.nii";
  image.label = {1};
  for (std::int32_t l = 1; l <= region::max_targets + 1; ++l) image.values.push_back(l);
  region_words words({1});
  EXPECT_THROW(words.targets(image, {}), failure);
  image.values.pop_back();
  EXPECT_NO_THROW(words.targets(image, {}));
}

}  // namespace
}  // namespace voxherd
