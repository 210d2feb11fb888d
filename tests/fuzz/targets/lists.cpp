// A text file with one mask per line.
#include <algorithm>

#include "src/analyses/track/mask_files.hpp"
#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const fuzz::input file(fuzz::as_text(data, size));
  fuzz::accepts([&] {
    const std::vector<std::string> names = find_mask_files({file.path()}, "stop");
    fuzz::require(!names.empty(), "a list has a name");
    for (const std::string& name : names)
      fuzz::require(!name.empty() && name.find('\n') == name.npos, "a name is a line");
  });
  const std::string first(fuzz::as_text(data, std::min<std::size_t>(size, 5000)));
  fuzz::accepts([&] { fuzz::require(!find_mask_file("x" + first, "seedref").empty(), "a name stays one"); });
  return 0;
}
