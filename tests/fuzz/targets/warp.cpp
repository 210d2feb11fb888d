// An image with a warp of FSL (displacements, positions, coefficients) or ITK: what is accepted is a finite field.
#include "src/scan/warps/transform.hpp"

#include <array>
#include <cmath>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const fuzz::input content(fuzz::as_text(data, size), ".nii");
  fuzz::accepts([&] {
    const transform t = read_transform(content.path());
    fuzz::require(t.field.mm.size() == t.field.size[0] * t.field.size[1] * t.field.size[2],
                  "one displacement per voxel");
    for (const std::array<float, 3>& mm : t.field.mm)
      for (const float x : mm) fuzz::require(std::isfinite(x), "displacements are finite");
    fuzz::require(std::abs(determinant(t.field.to_voxel.axes)) > 0, "its grid can be inverted");
  });
  return 0;
}
