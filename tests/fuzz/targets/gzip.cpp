// Both gzip readers accept the same streams and give the same bytes.
#include "src/io/gzip/gzip.hpp"

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
  void cancel() override {}
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
};

}  // namespace

void inflate_both(const input_file& file) {
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
  require(result.complete == valid, "both readers accept the stream");
  if (!valid) return;
  require(sink.bytes() == expected && result.bytes == expected.size(), "both readers give the same bytes");
  require(result.bytes_after == after, "both readers find as many bytes after the stream");
}

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd::fuzz;
  const input content(as_text(data, size));
  const voxherd::input_file file(content.path());
  if (is_gzip(file)) inflate_both(file);
  return 0;
}
