// usage: fuzz_replay TARGET FILE...
// Gives each file's content to a fuzz target, which aborts if it finds a defect. Files *.h5.gz are inflated. Exit
// status 1: the reader accepted none of them.
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/targets/input.hpp"

// VOXHERD_FUZZ_TARGETS: TARGET(name) for each file of tests/fuzz/targets.
#define TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
VOXHERD_FUZZ_TARGETS
#undef TARGET

namespace {

using target = int (*)(const std::uint8_t*, std::size_t);

const std::map<std::string, target> targets{
#define TARGET(name) {#name, fuzz_##name},
    VOXHERD_FUZZ_TARGETS
#undef TARGET
};

std::string read_packed(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string content, piece(1 << 16, '\0');
  for (int n = 1; n > 0;) {
    n = gzread(file, piece.data(), static_cast<unsigned>(piece.size()));
    if (n > 0) content.append(piece, 0, static_cast<std::size_t>(n));
  }
  gzclose(file);
  return content;
}

std::string read_file(const std::string& path) {
  if (path.ends_with(".h5.gz")) return read_packed(path);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** words) {
  const auto found = count > 2 ? targets.find(words[1]) : targets.end();
  if (found == targets.end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FILE...\n");
    return 2;
  }
  for (int i = 2; i < count; ++i) {
    const std::string content = read_file(words[i]);
    std::printf("%s: %zu bytes\n", words[i], content.size());
    std::fflush(stdout);
    found->second(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  }
  std::printf("accepted: %ld\n", voxherd::fuzz::accepted_count);
  return voxherd::fuzz::accepted_count > 0 ? 0 : 1;
}
