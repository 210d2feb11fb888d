#include <gtest/gtest.h>

#include <vector>

#include "kernels/track/walker_parts.hpp"

namespace voxherd::track {
namespace {

TEST(TrackWords, WordsComputedAheadAreThoseOfEachPlace) {
  constexpr std::uint64_t seed = 0x123456789abcdef0, large = std::uint64_t{1} << 32;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // item, place
  for (const std::uint64_t item : {std::uint64_t{0}, std::uint64_t{1}, large + 7})
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, large - 1})
      for (const std::uint64_t half : {0, 4})  // the halves of a streamline lie between each other's places
        for (std::uint64_t step = 0; step < 37; ++step) places.emplace_back(item, number << 32 | step << 3 | half);
  // As after streamlines that ended early, backwards, and from one number to the next.
  for (const std::uint64_t step : {0, 3, 4, 30, 29, 1, 8, 16, 0}) places.emplace_back(2, step << 3 | 4);
  for (std::uint64_t i = 0; i < 24; ++i) places.emplace_back(3, large - 96 + 8 * i);
  step_words words;
  for (const auto& [item, place] : places) {
    const philox4x32_ctr_t found = words.at(seed, item, place), expected = draw_words(seed, item, place);
    for (int k = 0; k < 4; ++k) ASSERT_EQ(found.v[k], expected.v[k]) << item << ' ' << place << ' ' << k;
  }
}

}  // namespace
}  // namespace voxherd::track
