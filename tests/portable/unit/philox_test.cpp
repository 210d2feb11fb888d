#include "kernels/portable/philox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "kernels/portable/draws.hpp"

namespace {

using numbers = std::array<std::uint32_t, 4>;

template <class Words>
numbers as_array(const Words& words) {
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

/// `counter` and `key` as Random123 writes them, least significant word first.
numbers own_words(const numbers& counter, const std::array<std::uint32_t, 2>& key) {
  return as_array(voxherd::philox::compute({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}}));
}

TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  // tests/kat_vectors of Random123 1.14.
  EXPECT_EQ(own_words({0, 0, 0, 0}, {0, 0}), (numbers{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(own_words({ones, ones, ones, ones}, {ones, ones}),
            (numbers{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(own_words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (numbers{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, GivesTheWordsOfEveryBuild) {
  std::uint32_t seed[2] = {1, 2};
  numbers counter = {3, 4, 5, 6};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t place = counter[0] | std::uint64_t{counter[1]} << 32;
    const std::uint64_t item = counter[2] | std::uint64_t{counter[3]} << 32;
    const numbers expected = own_words(counter, {seed[0], seed[1]});
    ASSERT_EQ(as_array(voxherd::draw_words(seed[0] | std::uint64_t{seed[1]} << 32, item, place)), expected) << i;
    counter = expected;
    seed[i % 2] ^= expected[0];
  }
}

}  // namespace
