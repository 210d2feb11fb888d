// Times igzip, as used by gzip_stream, and several threads (parallel_gzip), compared with zlib:
//   inflate_bench FILE.nii.gz [ROUNDS [THREADS [CHUNK_KIB]]]
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "src/io/gzip/gzip.hpp"

namespace {

constexpr std::size_t piece = std::size_t{1} << 18;  // as when reading a series

/// Number of bytes, and a sum that depends on their positions and can be combined in any order.
struct content {
  std::uint64_t bytes = 0, sum = 0;
  bool operator==(const content&) const = default;

  void add(std::uint64_t position, const unsigned char* some, std::size_t count) {
    constexpr std::uint64_t weight = 0x9e3779b97f4a7c15;
    std::uint64_t more = 0;
    for (std::size_t i = 0; i < count; ++i) more += some[i] * ((position + i) * weight ^ position >> 32);
    sum += more;
    bytes += count;
  }
};

using reader = std::function<std::size_t(unsigned char*, std::size_t)>;

content read_all(const reader& read, bool with_sum) {
  std::vector<unsigned char> part(piece);
  content found;
  while (const std::size_t got = read(part.data(), piece)) {
    if (with_sum) {
      found.add(found.bytes, part.data(), got);
    } else {
      found.bytes += got;
    }
  }
  return found;
}

content by_zlib(const char* path, bool with_sum) {
  const gzFile file = gzopen(path, "rb");
  gzbuffer(file, 1 << 20);
  const content found = read_all(
      [&](unsigned char* out, std::size_t bytes) {
        return static_cast<std::size_t>(std::max(0, gzread(file, out, static_cast<unsigned>(bytes))));
      },
      with_sum);
  gzclose(file);
  return found;
}

content by_igzip(const char* path, bool with_sum) {
  const voxherd::input_file file(path);
  voxherd::gzip_stream stream(file);
  return read_all([&](unsigned char* out, std::size_t bytes) { return stream.read_some(out, bytes); }, with_sum);
}

/// Ignores its input, or adds it to a sum.
class summing_sink : public voxherd::inflated_sink {
 public:
  explicit summing_sink(bool with_sum) : with_sum_(with_sum) {}
  void take(std::uint64_t position, const std::byte* bytes, std::size_t count) override {
    content some;
    if (with_sum_) some.add(position, reinterpret_cast<const unsigned char*>(bytes), count);
    bytes_ += count;
    sum_ += some.sum;
  }
  content found() const { return {bytes_, sum_}; }

 private:
  bool with_sum_;
  std::atomic<std::uint64_t> bytes_{0}, sum_{0};
};

content by_threads(const char* path, const voxherd::parallel_gzip_settings& how, bool with_sum,
                   voxherd::parallel_gzip_result* result = nullptr) {
  const voxherd::input_file file(path);
  const std::atomic<bool> stop{false};
  summing_sink sink(with_sum);
  const auto done = voxherd::inflate_in_parallel(file, how, stop, sink);
  if (result != nullptr) *result = done;
  return done.complete ? sink.found() : content{};
}

/// The fastest of several rounds, in wall and CPU seconds.
std::pair<double, double> fastest(const std::function<content()>& work, int rounds) {
  double wall = 1e30, cpu = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t ticks = std::clock();
    (void)work();
    wall = std::min(wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu = std::min(cpu, static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC);
  }
  return {wall, cpu};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: inflate_bench FILE.gz [ROUNDS [THREADS [CHUNK_KIB]]]\n");
    return 2;
  }
  const char* path = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const auto max_threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : std::thread::hardware_concurrency();
  voxherd::parallel_gzip_settings how;
  if (argc > 4) how.chunk_bytes = static_cast<std::size_t>(std::atoi(argv[4])) << 10;
  how.threads = max_threads;
  const content expected = by_zlib(path, true);
  voxherd::parallel_gzip_result parallel;
  if (expected.bytes == 0 || !(by_igzip(path, true) == expected) ||
      !(by_threads(path, how, true, &parallel) == expected)) {
    fmt::print(stderr, "{}: zlib, igzip and several threads decompress to different bytes\n", path);
    return 1;
  }
  fmt::print("{}: {} decompressed bytes, equal for all methods (sum {:016x})\n", path, expected.bytes, expected.sum);
  const auto percent = [&](std::uint64_t bytes) {
    return 100 * static_cast<double>(bytes) / static_cast<double>(expected.bytes);
  };
  fmt::print("in chunks of {} KiB: {:.1f} % of the bytes decompressed with markers, {:.1f} % in order\n",
             how.chunk_bytes >> 10, percent(parallel.bytes_marked), percent(parallel.bytes_in_order));
  const auto report = [&](const std::string& name, std::pair<double, double> seconds) {
    const double megabytes = static_cast<double>(expected.bytes) * 1e-6;
    fmt::print("{:11} {:8.2f} s {:8.0f} MB/s   CPU {:8.2f} s {:8.0f} MB/s\n", name, seconds.first,
               megabytes / seconds.first, seconds.second, megabytes / seconds.second);
  };
  report("zlib", fastest([&] { return by_zlib(path, false); }, rounds));
  report("igzip", fastest([&] { return by_igzip(path, false); }, rounds));
  for (how.threads = 1; how.threads <= max_threads; how.threads *= 2) {
    report(fmt::format("{} thread{}", how.threads, how.threads == 1 ? "" : "s"),
           fastest([&] { return by_threads(path, how, false); }, rounds));
  }
}
