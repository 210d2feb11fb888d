// An affine transform of ITK, as text or as a MATLAB file: what is accepted is a finite map that can be inverted.
#include "src/scan/warps/transform.hpp"

#include <cmath>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string bytes(fuzz::as_text(data, size));
  fuzz::accepts([&] {
    const voxel_map map =
        (bytes.starts_with("#") ? read_itk_text(bytes, "input") : read_itk_matlab(bytes, "input")).before;
    for (const double x : map.axes) fuzz::require(std::isfinite(x), "its axes are finite");
    for (const double x : map.origin) fuzz::require(std::isfinite(x), "its origin is finite");
    fuzz::require(std::abs(determinant(map.axes)) > 0, "it can be inverted");
  });
  return 0;
}
