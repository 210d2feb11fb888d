// Both gzip readers give the same bytes, and accept the same streams, except that igzip also accepts incomplete Huffman
// codes. Such a stream, which zlib refuses too, is read by the sequential reader alone; its checksum must still be
// right.
#include "src/io/gzip/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

constexpr std::size_t max_bytes = 1 << 22;

class collector final : public inflated_sink {
 public:
  void take(std::uint64_t position, const std::byte* bytes, std::size_t count) override {
    const std::lock_guard guard(mutex_);
    if (position + count > max_bytes) throw failure(exit_status::bad_data, "too many bytes");
    if (bytes_.size() < position + count) bytes_.resize(position + count);
    std::copy_n(bytes, count, bytes_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
};

/// Whether zlib finds the data of some member invalid; not its trailer, and not what follows the last member.
bool is_refused_by_zlib(std::string_view content) {
  z_stream z{};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::vector<unsigned char> out(1 << 16);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  int code = Z_OK;
  while (code == Z_OK) {
    z.next_out = out.data();
    z.avail_out = static_cast<uInt>(out.size());
    code = inflate(&z, Z_NO_FLUSH);
    if (code == Z_STREAM_END && z.avail_in > 2 && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b) code = inflateReset(&z);
  }
  inflateEnd(&z);
  return code == Z_DATA_ERROR;
}

}  // namespace

void inflate_both(const input_file& file, std::string_view content) {
  std::vector<std::byte> expected;
  std::uint64_t after = 0;
  const bool valid = accepts([&] {
    gzip_stream stream(file, 1024);
    expected.resize(max_bytes);
    expected.resize(stream.read_some(expected.data(), max_bytes));
    stream.finish();
    after = stream.bytes_after_members();
  });
  if (expected.size() == max_bytes) return;
  collector sink;
  parallel_gzip_result result;
  const std::atomic<bool> stop{false};
  accepts([&] { result = inflate_in_parallel(file, {2, 1024, 4096}, stop, sink); });
  if (valid && !result.complete) require(is_refused_by_zlib(content), "zlib and the parallel reader accept the stream");
  require(valid || !result.complete, "the sequential reader accepts the stream");
  if (!result.complete) return;
  require(sink.bytes() == expected && result.bytes == expected.size(), "both readers give the same bytes");
  require(result.bytes_after == after, "both readers find as many bytes after the stream");
}

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd::fuzz;
  const input content(as_text(data, size));
  const voxherd::input_file file(content.path());
  if (is_gzip(file)) inflate_both(file, as_text(data, size));
  return 0;
}
