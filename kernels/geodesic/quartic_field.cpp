#include <stdexcept>

#include "kernels/geodesic/finsler4.hpp"
#include "kernels/geodesic/finsler_fit.hpp"
#include "kernels/geodesic/quartic_field_backends.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field(const device& d, const tensor_image& image, std::span<const float> quartics,
                                          std::span<const std::uint32_t> regions, const preparation& settings,
                                          bool spline) {
  const prepare::recipe r = prepare::make_recipe(image, settings, field_kind::quartic, spline);
  const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("make_quartic_field: ") + why); };
  if (settings.metric != metric_kind::inverse && settings.metric != metric_kind::adjugate)
    refuse("a fourth-order norm has no power; expected metric inverse or adjugate");
  if (settings.smoothing_voxels > 0) refuse("a fourth-order norm cannot be smoothed");
  if (!regions.empty() && regions.size() != image.inside.size())
    refuse("the regions do not have the image's number of voxels");
  if (quartics.size() != quartic_size * image.inside.size())
    refuse("the quartics do not have the image's number of voxels");
  auto made = d.kind == backend::cuda ? make_quartic_field_cuda(image, quartics, regions, r)
                                      : make_quartic_field_cpu(d, image, quartics, regions, r);
  made->where = d;
  made->kind = field_kind::quartic;
  made->spline = spline;
  made->scale = r.scale;
  return made;
}

}  // namespace voxherd::geodesic
