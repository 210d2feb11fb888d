#include "src/io/gzip/deflate_decoder.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "src/io/gzip/inflated_piece.hpp"
#include "tests/io/support/crafted_gzip.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::member;
using testing::scratch_folder;
using testing::some_content;
using testing::write_file;
using pause = deflate_decoder::pause;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// Finds all blocks of a file with one member.
struct block_start {
  std::uint64_t bit;
  std::size_t bytes_before;
};

class DeflateDecoder : public ::testing::Test {
 protected:
  std::string put(const bytes& packed) {
    std::filesystem::remove(folder_ / "file.gz");
    write_file(folder_ / "file.gz", packed);
    return folder_ / "file.gz";
  }

  /// With an output of `at_once` bytes each time.
  static bytes inflated(const std::string& path, std::size_t at_once, std::vector<block_start>* blocks = nullptr) {
    const input_file file(path);
    deflate_decoder decoder(file, {});
    std::vector<std::uint8_t> out(deflate_window + at_once + deflate_decoder::overshoot);
    bytes all;
    std::size_t known = 0;
    std::uint64_t limit = blocks == nullptr ? no_limit : 1;
    while (true) {
      std::uint8_t* const begin = out.data() + deflate_window;
      std::uint8_t* to = begin;
      const pause why = decoder.run(to, begin + at_once, static_cast<const std::uint8_t*>(begin - known), limit);
      all.insert(all.end(), begin, to);
      known = std::min(deflate_window, known + static_cast<std::size_t>(to - begin));
      std::copy(to - deflate_window, to, out.data());
      if (why == pause::at_limit) {
        if (!decoder.where().before_member) blocks->push_back({decoder.where().bit, all.size()});
        limit = decoder.where().bit + 1;
      }
      if (why == pause::member_end) {
        EXPECT_EQ(decoder.length(), all.size());
        EXPECT_EQ(decoder.checksum(),
                  crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size())));
      }
      if (why == pause::stream_end) break;
      if (why == pause::damaged) {
        ADD_FAILURE() << "damaged after " << all.size();
        break;
      }
    }
    return all;
  }

  scratch_folder folder_;
};

/// Contents similar to images, and more difficult ones.
std::vector<std::pair<const char*, bytes>> contents() {
  std::mt19937 draw(5);
  bytes noise(200000), floats, image, zeros(3000000), text;
  for (char& c : noise) c = static_cast<char>(draw());
  std::normal_distribution<float> normal(1000, 50);
  for (int i = 0; i < 60000; ++i) {
    const float value = i / 500 % 3 == 0 ? 0 : normal(draw);
    const auto* from = reinterpret_cast<const char*>(&value);
    floats.insert(floats.end(), from, from + 4);
    const auto stored = static_cast<std::int16_t>(value);
    from = reinterpret_cast<const char*>(&stored);
    image.insert(image.end(), from, from + 2);
  }
  while (text.size() < 300000) {
    const std::string word = "voxel " + std::to_string(draw() % 1000) + (draw() % 9 == 0 ? "\n" : " ");
    text.insert(text.end(), word.begin(), word.end());
  }
  return {{"nothing", {}},  {"noise", noise}, {"floats", floats},           {"int16", image},
          {"zeros", zeros}, {"text", text},   {"all", some_content(400000)}};
}

TEST_F(DeflateDecoder, RestoresEveryLevelAndStrategy) {
  for (const auto& [name, content] : contents()) {
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED, Z_FILTERED}) {
      for (const int level : {0, 1, 6, 9}) {
        const auto path = put(member(content, level, strategy));
        EXPECT_TRUE(inflated(path, 100000) == content) << name << ", level " << level << ", strategy " << strategy;
      }
    }
  }
}

TEST_F(DeflateDecoder, PausingAnywhereChangesNothing) {
  const bytes content = some_content(5000);
  for (const int level : {0, 6}) {
    const auto path = put(member(content, level));
    for (std::size_t room = 1; room < 300; room += 7) EXPECT_TRUE(inflated(path, room) == content) << room;
  }
}

TEST_F(DeflateDecoder, MarksReplaceUnknownBytesFromAnyBlockOn) {
  for (const auto& [name, content] : contents()) {
    for (const int level : {0, 6}) {
      const input_file file(put(member(content, level)));
      std::vector<block_start> blocks;
      EXPECT_TRUE(inflated(file.path(), 100000, &blocks) == content);
      for (const auto& block : blocks) {
        if (block.bytes_before < deflate_window) continue;
        const std::size_t room = content.size() - block.bytes_before;
        std::vector<std::uint16_t> symbols(deflate_window + room + deflate_decoder::overshoot);
        write_marks(symbols.data());
        std::uint16_t* const begin = symbols.data() + deflate_window;
        std::uint16_t* to = begin;
        deflate_decoder decoder(file, {block.bit, false});
        const pause why =
            decoder.run(to, begin + room + 1, static_cast<const std::uint16_t*>(symbols.data()), no_limit);
        EXPECT_EQ(why, pause::member_end) << name;
        ASSERT_EQ(to, begin + room) << name;
        const auto* const before =
            reinterpret_cast<const std::uint8_t*>(content.data()) + block.bytes_before - deflate_window;
        std::vector<std::uint8_t> found(room);
        mark_replacer(before).replace(begin, room, found.data());
        EXPECT_TRUE(std::equal(found.begin(), found.end(), before + deflate_window)) << name << ", bit " << block.bit;
      }
    }
  }
}

TEST_F(DeflateDecoder, FinderDetectsNonFinalBlocks) {
  for (const auto& [name, content] : contents()) {
    for (const int level : {0, 1, 6}) {
      const input_file file(put(member(content, level)));
      std::vector<block_start> blocks;
      (void)inflated(file.path(), 100000, &blocks);
      std::size_t seen = 0;
      for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        const std::uint64_t from = i == 0 ? 8 : blocks[i - 1].bit + 16;
        const auto found = find_deflate_block(file, from, blocks[i].bit + 8);
        if (!found) continue;
        EXPECT_FALSE(found->before_member);
        if (found->bit == blocks[i].bit || is_same_stored_block(file, blocks[i].bit, found->bit)) ++seen;
      }
      // A stored block followed by a fixed one is not recognised.
      EXPECT_GE(seen + 2, blocks.size()) << name << ", level " << level;
    }
  }
}

TEST_F(DeflateDecoder, FinderDetectsMembers) {
  const bytes one = member(some_content(100)), both = testing::joined({one, one});
  const auto found = find_deflate_block(input_file(put(both)), 8, 8 * both.size());
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->before_member);
  EXPECT_EQ(found->bit, 8 * one.size());
}

TEST_F(DeflateDecoder, FinderDetectsNothingInZerosAndNoise) {
  std::mt19937 draw(7);
  bytes noise(1000000);
  for (char& c : noise) c = static_cast<char>(draw());
  EXPECT_FALSE(find_deflate_block(input_file(put(bytes(100000, '\0'))), 0, 800000).has_value());
  EXPECT_FALSE(find_deflate_block(input_file(put(noise)), 0, 8 * noise.size()).has_value());
}

}  // namespace
}  // namespace voxherd
