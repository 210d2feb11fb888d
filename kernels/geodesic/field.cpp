#include "kernels/geodesic/field.hpp"

#include <stdexcept>

#include "kernels/geodesic/field_backends.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_field(const device& d, const tensor_image& image, std::span<const std::uint32_t> regions,
                                  const preparation& how, field_kind kind, bool spline) {
  const prepare::recipe r = prepare::make_recipe(image, how, kind, spline);
  if (!regions.empty() && regions.size() != image.inside.size())
    throw std::invalid_argument("make_field: regions of another number of voxels than the image");
  auto made = d.kind == backend::cuda ? make_field_cuda(d, image, regions, r) : make_field_cpu(d, image, regions, r);
  made->where = d;
  made->kind = kind;
  made->spline = spline;
  made->scale = r.scale;
  return made;
}

}  // namespace voxherd::geodesic
