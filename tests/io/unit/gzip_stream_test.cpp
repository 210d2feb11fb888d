#include "src/io/gzip/gzip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "core/failure.hpp"
#include "tests/io/support/crafted_gzip.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using testing::by_zlib;
using testing::bytes;
using testing::head;
using testing::joined;
using testing::member;
using testing::member_with_wrong_checksum;
using testing::scratch_folder;
using testing::some_content;
using testing::write_file;

class GzipStream : public ::testing::Test {
 protected:
  std::string put(const bytes& packed) {
    std::filesystem::remove(folder_ / "file.gz");  // ext4 flushes when a file is overwritten
    write_file(folder_ / "file.gz", packed);
    return folder_ / "file.gz";
  }

  /// Reads the complete file piece by piece and checks what follows the last piece.
  static bytes inflated(const std::string& path, std::size_t piece, std::size_t input_bytes) {
    const input_file file(path);
    gzip_stream stream(file, input_bytes);
    bytes all;
    while (true) {
      bytes part(piece);
      const std::size_t got = stream.read_some(part.data(), piece);
      all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
      EXPECT_EQ(stream.position(), all.size());
      if (got < piece) break;
    }
    EXPECT_EQ(stream.finish(), 0U);
    return all;
  }

  std::string refusal(const bytes& packed, std::size_t input_bytes = 4096) {
    const std::string path = put(packed);
    try {
      (void)inflated(path, 5000, input_bytes);
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
      const std::string line = f.what();
      EXPECT_EQ(line.rfind(path, 0), 0U) << line;
      return line;
    }
    return "";
  }

  scratch_folder folder_;
};

TEST_F(GzipStream, EveryBoundaryOfInputAndOutputGivesTheSameBytes) {
  const bytes content = some_content(3000);
  const auto path = put(joined({member(content, 6, Z_DEFAULT_STRATEGY, head::full), member({}),
                                member(content, 0, Z_DEFAULT_STRATEGY, head::full), member(content, 6, Z_FIXED)}));
  const bytes expected = joined({content, content, content});
  for (std::size_t size = 1; size < 400; ++size) EXPECT_TRUE(inflated(path, 100000, size) == expected) << size;
  for (std::size_t size = 1; size < 400; ++size) EXPECT_TRUE(inflated(path, size, 100000) == expected) << size;
  for (std::size_t size = 1; size < 40; ++size) EXPECT_TRUE(inflated(path, size, 41 - size) == expected) << size;
}

TEST_F(GzipStream, RestoresLargeMembersOfEveryLevel) {
  const bytes content = some_content(700000, 2);
  for (int level = 0; level <= 9; ++level) {
    const auto path = put(member(content, level));
    for (const std::size_t piece : {1000, 32768, 65537, 1000000}) {
      EXPECT_TRUE(inflated(path, piece, 4096) == content) << level << ", " << piece;
      EXPECT_TRUE(inflated(path, piece, 1 << 20) == content) << level << ", " << piece;
    }
  }
}

TEST_F(GzipStream, SeekingGoesForwardsAndBackToTheFront) {
  const bytes content = some_content(600000, 3);
  const auto path = put(joined({member(bytes(content.begin(), content.begin() + 250000)),
                                member(bytes(content.begin() + 250000, content.end()))}));
  const input_file file(path);
  gzip_stream stream(file, 1000);
  for (const std::size_t at : {5UL, 249999UL, 250000UL, 599990UL, 0UL, 300000UL, 299999UL}) {
    bytes part(10);
    stream.seek(at);
    stream.read(part.data(), part.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), content.begin() + static_cast<std::ptrdiff_t>(at))) << at;
  }
  EXPECT_EQ(stream.finish(), content.size() - 300009);
  EXPECT_THROW(stream.seek(600001), failure);
}

TEST_F(GzipStream, FinishVerifiesEveryMemberAndCountsWhatFollows) {
  const bytes content = some_content(600000, 3), more = some_content(700, 4);
  const auto finish = [&](const bytes& packed) {
    const input_file file(put(packed));
    gzip_stream stream(file, 1000);
    bytes part(content.size());
    stream.read(part.data(), part.size());
    EXPECT_TRUE(part == content);
    EXPECT_EQ(stream.bytes_after_members(), 0U);
    const std::uint64_t left = stream.finish();
    return std::pair(left, stream.bytes_after_members());
  };
  EXPECT_EQ(finish(member(content)), std::pair(0UL, 0UL));
  EXPECT_EQ(finish(joined({member(content), member(more), member({}), bytes(5, 'x')})), std::pair(700UL, 5UL));
  EXPECT_THROW(finish(joined({member(content), member_with_wrong_checksum(more)})), failure);
  EXPECT_THROW(finish(member_with_wrong_checksum(joined({content, more}))), failure);
}

TEST_F(GzipStream, FileTruncatedAnywhereIsReported) {
  const bytes one = member(some_content(500), 6, Z_DEFAULT_STRATEGY, head::full), both = joined({one, one});
  for (std::size_t length = 2; length < both.size(); ++length) {
    const bytes cut(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(length));
    // The first byte of a second member is not a member yet: data after the first one are ignored.
    const bool whole = length == one.size() || length == one.size() + 1;
    for (const std::size_t input_bytes : {7, 4096}) {
      const std::string line = refusal(cut, input_bytes);
      if (whole) {
        EXPECT_EQ(line, "") << length;
      } else {
        EXPECT_NE(line.find("truncated"), std::string::npos) << length << ": " << line;
        EXPECT_NE(line.find("file byte " + std::to_string(length)), std::string::npos) << line;
      }
    }
  }
}

TEST_F(GzipStream, DataAfterTheLastMemberAreIgnored) {
  const bytes content = some_content(500);
  for (const std::size_t rubbish : {1, 8, 5000}) {
    const auto path = put(joined({member(content), bytes(rubbish, '\0')}));
    for (const std::size_t input_bytes : {1, 50, 1 << 20}) EXPECT_TRUE(inflated(path, 1000, input_bytes) == content);
  }
}

TEST_F(GzipStream, EveryFlippedBitIsDetectedAsByZlib) {
  const bytes content = some_content(300, 4);
  for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED}) {
    const bytes good = member(content, 6, strategy);
    constexpr std::size_t header_bytes = 10;
    std::size_t refused = 0;
    for (std::size_t bit = 8 * header_bytes; bit < 8 * good.size(); ++bit) {
      bytes bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      const auto verdict = by_zlib(bad, 100000);
      const std::string line = refusal(bad);
      EXPECT_EQ(line.empty(), verdict.has_value()) << "bit " << bit << ": " << line;
      refused += line.empty() ? 0 : 1;
    }
    // Up to seven bits pad the last byte of the deflated data; they are never read.
    EXPECT_GE(refused, 8 * (good.size() - header_bytes) - 7);
  }
}

TEST_F(GzipStream, DamageIsReportedWithItsReason) {
  const bytes good = member(some_content(800));
  const auto flipped = [&](std::size_t at) {
    bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    return refusal(bad);
  };
  EXPECT_NE(flipped(good.size() - 6).find("damaged after 800 inflated bytes (wrong checksum or length)"),
            std::string::npos);
  EXPECT_NE(flipped(good.size() - 2).find("wrong checksum or length"), std::string::npos);
  EXPECT_NE(flipped(2).find("unknown compression method"), std::string::npos);
  bytes full = member(some_content(800), 6, Z_DEFAULT_STRATEGY, head::full);
  full[4] = static_cast<char>(full[4] ^ 1);  // the modification time, covered by the header's checksum
  EXPECT_NE(refusal(full).find("wrong checksum"), std::string::npos);
  EXPECT_NE(refusal(full, 1).find("wrong checksum"), std::string::npos);
}

}  // namespace
}  // namespace voxherd
