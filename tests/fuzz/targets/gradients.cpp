// bvals, then | and bvecs.
#include "src/scan/gradients.hpp"

#include <cmath>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string_view text = fuzz::as_text(data, size);
  const std::size_t middle = std::min(text.find('|'), text.size());
  const fuzz::input bvals(text.substr(0, middle)), bvecs(text.substr(std::min(middle + 1, text.size())));
  constexpr std::size_t volumes = 8;
  fuzz::accepts([&] {
    const gradient_table table = read_gradients(bvals.path(), bvecs.path(), volumes);
    fuzz::require(table.b_s_per_mm2.size() == volumes, "one b-value per volume");
    for (const double b : table.b_s_per_mm2) fuzz::require(std::isfinite(b) && b >= 0, "b-values are finite");
  });
  return 0;
}
