#include "src/io/gzip/gzip_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "core/threads.hpp"
#include "tests/io/support/crafted_gzip.hpp"

namespace voxherd {
namespace {

using testing::by_zlib;
using testing::bytes;
using testing::some_content;

constexpr std::size_t piece = gzip_writer::piece_bytes;

class GzipWriter : public ::testing::Test {
 protected:
  ~GzipWriter() override { set_compression_threads(0); }

  /// `step`: bytes of each call of write().
  static bytes packed(const bytes& content, std::size_t step) {
    bytes out;
    gzip_writer writer([&](std::span<const std::byte> part) {
      const auto* at = reinterpret_cast<const char*>(part.data());
      out.insert(out.end(), at, at + part.size());
    });
    for (std::size_t i = 0; i < content.size(); i += step)
      writer.write(content.data() + i, std::min(step, content.size() - i));
    writer.finish();
    return out;
  }
};

TEST_F(GzipWriter, ZlibReadsFilesOfAnyLength) {
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 3 * piece, 5 * piece + 7}) {
    const bytes content = some_content(length);
    EXPECT_EQ(by_zlib(packed(content, 100'000), length + 1), content) << length;
  }
}

TEST_F(GzipWriter, TheFileDoesNotDependOnThreadsOrOnTheSizesOfWrites) {
  const bytes content = some_content(20 * piece + 1);
  set_compression_threads(1);
  const bytes alone = packed(content, content.size());
  for (const int threads : {2, 3, 16}) {
    set_compression_threads(threads);
    for (const std::size_t step : {std::size_t{4097}, piece, content.size()})
      EXPECT_EQ(packed(content, step), alone) << threads << " " << step;
  }
}

TEST_F(GzipWriter, DataThatCannotBeCompressedGrowLittle) {
  bytes noise(4 * piece);
  std::mt19937 draw(7);
  for (char& c : noise) c = static_cast<char>(draw());
  const bytes out = packed(noise, piece);
  EXPECT_EQ(by_zlib(out, noise.size() + 1), noise);
  EXPECT_LT(out.size(), noise.size() + noise.size() / 1000);
}

TEST_F(GzipWriter, AnErrorOfTheSinkReachesTheCaller) {
  const bytes content = some_content(40 * piece);
  std::size_t calls = 0;
  gzip_writer writer([&](std::span<const std::byte>) {
    if (++calls == 5) throw std::runtime_error("the disk is full");
  });
  EXPECT_THROW(
      {
        writer.write(content.data(), content.size());
        writer.finish();
      },
      std::runtime_error);
}

TEST_F(GzipWriter, AFileThatIsNotFinishedEndsItsThreads) {
  const bytes content = some_content(6 * piece);
  std::size_t received = 0;
  {
    gzip_writer writer([&](std::span<const std::byte> part) { received += part.size(); });
    writer.write(content.data(), content.size());
  }
  EXPECT_LT(received, content.size());
}

TEST_F(GzipWriter, AMemberIsACompleteFile) {
  const bytes content = some_content(50'000);
  const std::vector<std::byte> member = gzip_member(std::as_bytes(std::span(content)));
  const auto* at = reinterpret_cast<const char*>(member.data());
  EXPECT_EQ(by_zlib(bytes(at, at + member.size()), content.size() + 1), content);
}

}  // namespace
}  // namespace voxherd
