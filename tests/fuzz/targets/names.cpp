// A table of the names of regions.
#include "src/scan/region_names.hpp"

#include <algorithm>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const fuzz::input file(fuzz::as_text(data, size));
  fuzz::accepts([&] {
    const std::vector<std::string> names = read_region_names(file.path(), {0, 1, 3, 17, 1000});
    fuzz::require(names.size() == 5, "a name for each region");
    for (const std::string& name : names)
      fuzz::require(!name.empty() && name.find_first_of("\n\t") == name.npos, "a name is a part of a line");
  });
  return 0;
}
