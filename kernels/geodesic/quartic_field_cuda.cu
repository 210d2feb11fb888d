#include "kernels/geodesic/quartic_field_backends.hpp"
#include "kernels/tensor_field/field_machine.cuh"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cuda(const tensor_image& image, std::span<const float> quartics,
                                               std::span<const std::uint32_t> regions, const prepare::recipe& r) {
  const cuda_stream stream;
  const auto norms = copied(quartics.data(), quartics.size(), stream);
  return make_field_on_gpu(stream, image, regions, r, quartic_steps::quartic_planes, 0,
                           [&](auto& machine, const prepare::workspace& w) {
                             quartic_steps::prepare_quartic_field(machine, r, w, norms.data());
                           });
}

}  // namespace voxherd::geodesic
