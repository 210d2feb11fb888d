// igzip, as gzip_stream uses it, beside zlib: inflate_bench FILE.nii.gz [ROUNDS]
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <vector>

#include "mpi/checksum.hpp"
#include "src/input/gzip_stream.hpp"

namespace {

using voxherd::checksum;

constexpr std::size_t piece = std::size_t{1} << 18;  // as a series is read

struct content {
  std::uint64_t bytes = 0, sum = 0;
  bool operator==(const content&) const = default;
};

using reader = std::function<std::size_t(char*, std::size_t)>;

content read_all(const reader& read, bool with_sum) {
  std::vector<char> part(piece);
  content found;
  checksum sum;
  while (const std::size_t got = read(part.data(), piece)) {
    found.bytes += got;
    if (with_sum) sum.add(std::as_bytes(std::span(part).first(got)));
  }
  found.sum = with_sum ? sum.value() : 0;
  return found;
}

content by_zlib(const char* path, bool with_sum) {
  const gzFile file = gzopen(path, "rb");
  gzbuffer(file, 1 << 20);
  const content found = read_all(
      [&](char* out, std::size_t bytes) {
        return static_cast<std::size_t>(std::max(0, gzread(file, out, static_cast<unsigned>(bytes))));
      },
      with_sum);
  gzclose(file);
  return found;
}

content by_igzip(const char* path, bool with_sum) {
  const voxherd::input_file file(path);
  voxherd::gzip_stream stream(file);
  return read_all([&](char* out, std::size_t bytes) { return stream.read_some(out, bytes); }, with_sum);
}

/// The fastest of some rounds, wall and CPU seconds.
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
    fmt::print(stderr, "usage: inflate_bench FILE.gz [ROUNDS]\n");
    return 2;
  }
  const char* path = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const content expected = by_zlib(path, true);
  if (expected.bytes == 0 || !(by_igzip(path, true) == expected)) {
    fmt::print(stderr, "{}: igzip and zlib give different bytes\n", path);
    return 1;
  }
  fmt::print("{}: {} inflated bytes, the same from both (XXH64 {:016x})\n", path, expected.bytes, expected.sum);
  const auto report = [&](const char* name, std::pair<double, double> seconds) {
    const double megabytes = static_cast<double>(expected.bytes) * 1e-6;
    fmt::print("{:6} {:8.2f} s {:8.0f} MB/s   CPU {:8.2f} s {:8.0f} MB/s\n", name, seconds.first,
               megabytes / seconds.first, seconds.second, megabytes / seconds.second);
  };
  report("zlib", fastest([&] { return by_zlib(path, false); }, rounds));
  report("igzip", fastest([&] { return by_igzip(path, false); }, rounds));
}
