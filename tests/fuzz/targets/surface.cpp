// A surface in any format, by its first bytes: what is accepted is a mesh that can be used without checks.
#include "src/io/surfaces/surfaces.hpp"

#include <cmath>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string_view text = fuzz::as_text(data, size);
  const fuzz::input content(text, text.starts_with('#') ? ".asc" : ".gii");
  fuzz::accepts([&] {
    const surface s = read_surface(content.path());
    fuzz::require(!s.points_mm.empty() && !s.triangles.empty(), "a surface has vertices and triangles");
    for (const auto& t : s.triangles)
      for (const std::uint32_t corner : t) fuzz::require(corner < s.points_mm.size(), "corners are vertices");
    for (const auto& p : s.points_mm)
      for (const float x : p) fuzz::require(std::isfinite(x), "coordinates are finite");
    fuzz::require(s.values.empty() || s.values.size() == s.points_mm.size(), "one value per vertex");
  });
  fuzz::accepts([&] { read_surface_values(content.path()); });
  return 0;
}
