// The header of a CIFTI file and one column of its values.
#include "src/io/cifti/cifti.hpp"

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const fuzz::input content(fuzz::as_text(data, size));
  fuzz::accepts([&] {
    const cifti_file file = read_cifti(content.path());
    for (const cifti_axis* axis : {&file.rows, &file.columns}) {
      const auto* g = std::get_if<greyordinates>(axis);
      if (g == nullptr) continue;
      for (const brain_part& part : g->parts)
        for (const std::uint64_t place : part.places)
          fuzz::require(place < (part.is_surface() ? part.surface_vertices : g->grid->voxel_count()), "places exist");
    }
    if (axis_size(file.columns) > 0) read_cifti_column(file, axis_size(file.columns) - 1);
  });
  return 0;
}
