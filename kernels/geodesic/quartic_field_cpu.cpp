#include "kernels/geodesic/quartic_field_backends.hpp"
#include "kernels/tensor_field/field_machine_cpu.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cpu(const device& d, const tensor_image& image,
                                              std::span<const float> quartics, std::span<const std::uint32_t> regions,
                                              const prepare::recipe& r) {
  return make_field_on_cpu(d, image, regions, r, quartic_steps::quartic_planes, 0,
                           [&](cpu_machine& machine, const prepare::workspace& w) {
                             quartic_steps::prepare_quartic_field(machine, r, w, quartics.data());
                           });
}

}  // namespace voxherd::geodesic
