#include "src/io/gzip/gzip.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "core/failure.hpp"
#include "tests/io/support/crafted_gzip.hpp"

namespace voxherd {
namespace {

using testing::bytes;
using testing::head;
using testing::joined;
using testing::member;
using testing::scratch_folder;
using testing::some_content;
using testing::write_file;

/// Stores pieces at their positions and counts how often each byte arrives.
class collecting_sink : public inflated_sink {
 public:
  void take(std::uint64_t position, const std::byte* from, std::size_t count) override {
    const std::lock_guard lock(mutex_);
    if (content.size() < position + count) {
      content.resize(position + count);
      times.resize(position + count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      content[position + i] = static_cast<char>(from[i]);
      ++times[position + i];
    }
  }

  bytes content;
  std::vector<int> times;

 private:
  std::mutex mutex_;
};

class ParallelGzip : public ::testing::Test {
 protected:
  std::string put(const bytes& packed) {
    std::filesystem::remove(folder_ / "file.gz");
    write_file(folder_ / "file.gz", packed);
    return folder_ / "file.gz";
  }

  static parallel_gzip_result inflate(const std::string& path, const parallel_gzip_settings& how, bytes& content) {
    const input_file file(path);
    collecting_sink sink;
    const auto result = inflate_in_parallel(file, how, std::atomic<bool>{false}, sink);
    if (result.complete) {
      EXPECT_EQ(result.bytes, sink.content.size());
      for (const int times : sink.times) EXPECT_EQ(times, 1);
    }
    content = sink.content;
    return result;
  }

  static void expect_complete(const std::string& path, const bytes& expected, const std::string& what) {
    for (const std::size_t chunk : {100, 1024, 5000, 60000}) {
      for (const unsigned threads : {1U, 2U, 5U}) {
        bytes found;
        EXPECT_TRUE(inflate(path, {threads, chunk, 70000}, found).complete) << what << ", chunks of " << chunk;
        EXPECT_TRUE(found == expected) << what << ", chunks of " << chunk << ", " << threads << " threads";
      }
    }
  }

  /// Whether gzip_stream can read the complete file.
  static bool is_right(const std::string& path, bytes& content) {
    const input_file file(path);
    content.clear();
    try {
      gzip_stream stream(file);
      bytes part(100000);
      while (const std::size_t got = stream.read_some(part.data(), part.size()))
        content.insert(content.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    } catch (const failure&) {
      return false;
    }
    return true;
  }

  scratch_folder folder_;
};

bytes floats(std::size_t count) {
  std::mt19937 draw(3);
  std::normal_distribution<float> normal(1000, 50);
  bytes out;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = i / 700 % 3 == 0 ? 0 : normal(draw);
    const auto* from = reinterpret_cast<const char*>(&value);
    out.insert(out.end(), from, from + sizeof value);
  }
  return out;
}

TEST_F(ParallelGzip, RestoresEveryLevelAndStrategyInChunksOfAnySize) {
  const bytes content = joined({some_content(200000), bytes(500000, '\0'), floats(40000)});
  for (const int level : {0, 1, 6, 9}) {
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      expect_complete(put(member(content, level, strategy)), content,
                      "level " + std::to_string(level) + ", strategy " + std::to_string(strategy));
    }
  }
}

TEST_F(ParallelGzip, MembersMayStartAndEndAnywhere) {
  std::mt19937 draw(11);
  const bytes content = joined({some_content(300000), floats(20000)});
  for (const std::size_t most : {50, 3000, 100000}) {
    bytes packed;
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t count = std::min(draw() % most, content.size() - at);
      const auto from = content.begin() + static_cast<std::ptrdiff_t>(at);
      const head kind = draw() % 4 == 0 ? head::full : head::bare;
      const bytes one = member(bytes(from, from + static_cast<std::ptrdiff_t>(count)), static_cast<int>(draw() % 7),
                               Z_DEFAULT_STRATEGY, kind);
      packed.insert(packed.end(), one.begin(), one.end());
      at += count;
    }
    expect_complete(put(packed), content, "members of up to " + std::to_string(most));
    expect_complete(put(joined({packed, bytes(3000, '\0')})), content, "zeros behind members");
    expect_complete(put(joined({packed, some_content(3000, 8)})), content, "rubbish behind members");
  }
}

TEST_F(ParallelGzip, BytesAfterTheMembersAreCounted) {
  const bytes content = joined({some_content(200000), floats(20000)});
  for (const std::size_t more : {0, 1, 2, 3000}) {
    const auto path = put(joined({member(content), member(content), bytes(more, 'x')}));
    for (const std::size_t chunk : {100, 5000, 60000}) {
      bytes found;
      EXPECT_EQ(inflate(path, {3, chunk, 70000}, found).bytes_after, more) << "chunks of " << chunk;
    }
  }
}

TEST_F(ParallelGzip, EmptyAndTinyFilesAreComplete) {
  expect_complete(put(member({})), {}, "an empty member");
  expect_complete(put(joined({member({}), member({}), member({'x'}), member({})})), {'x'}, "empty members");
}

TEST_F(ParallelGzip, FullPiecesAreFollowedByMore) {
  const bytes zeros(20000000, '\0');
  bytes found;
  const auto result = inflate(put(member(zeros)), {3, 4000, 50000}, found);
  EXPECT_TRUE(result.complete);
  EXPECT_TRUE(found == zeros);
  EXPECT_GT(result.bytes_in_order, zeros.size() / 2);
}

TEST_F(ParallelGzip, MostBytesAreInflatedOutOfOrder) {
  const bytes content = floats(1000000);
  bytes found;
  const auto result = inflate(put(member(content)), {4, 100000, 1 << 20}, found);
  EXPECT_TRUE(result.complete);
  EXPECT_TRUE(found == content);
  EXPECT_GT(result.bytes_marked, content.size() / 20);
  EXPECT_LT(result.bytes_in_order, content.size() / 20);
}

TEST_F(ParallelGzip, EveryFlippedBitIsDetectedAsByGzipStream) {
  const bytes content = some_content(2500, 4);
  const bytes good = joined({member(content, 6, Z_DEFAULT_STRATEGY, head::full), member(content, 1, Z_FIXED)});
  for (std::size_t bit = 16; bit < 8 * good.size(); bit += 3) {
    bytes bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto path = put(bad);
    bytes expected, found;
    const bool is_complete = inflate(path, {2, 300, 2000}, found).complete;
    EXPECT_EQ(is_complete, is_right(path, expected)) << "bit " << bit;
    if (is_complete) {
      EXPECT_TRUE(found == expected) << "bit " << bit;
    }
  }
}

TEST_F(ParallelGzip, DamageInLongStreamsIsDetected) {
  std::mt19937 draw(13);
  const bytes content = joined({some_content(150000), floats(20000)}), good = member(content);
  for (int i = 0; i < 300; ++i) {
    bytes bad = good;
    const std::size_t bit = 80 + draw() % (8 * good.size() - 80);
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto path = put(bad);
    bytes expected, found;
    EXPECT_EQ(inflate(path, {3, 4000, 70000}, found).complete, is_right(path, expected)) << "bit " << bit;
  }
}

TEST_F(ParallelGzip, FileTruncatedAnywhereIsIncomplete) {
  const bytes good = member(some_content(20000), 6, Z_DEFAULT_STRATEGY, head::full);
  bytes found;
  for (std::size_t length = 2; length < good.size(); length += length < 100 ? 1 : 97) {
    const bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(inflate(put(cut), {2, 3000, 70000}, found).complete) << length;
  }
  for (std::size_t cut = 1; cut < 20; ++cut) {
    EXPECT_FALSE(
        inflate(put(bytes(good.begin(), good.end() - static_cast<std::ptrdiff_t>(cut))), {2, 3000, 70000}, found)
            .complete);
  }
}

TEST_F(ParallelGzip, StopEndsInflationAndSinkExceptionsPropagate) {
  class throwing_sink : public collecting_sink {
    void take(std::uint64_t position, const std::byte*, std::size_t) override {
      if (position > 100000) throw failure(exit_status::disk, "no more");
    }
  } throwing;
  const input_file file(put(member(floats(200000))));
  EXPECT_THROW(inflate_in_parallel(file, {3, 10000, 70000}, std::atomic<bool>{false}, throwing), failure);
  collecting_sink sink;
  EXPECT_FALSE(inflate_in_parallel(file, {3, 10000, 70000}, std::atomic<bool>{true}, sink).complete);
}

}  // namespace
}  // namespace voxherd
