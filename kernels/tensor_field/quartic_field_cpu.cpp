#include "kernels/tensor_field/field_machine_cpu.hpp"
#include "kernels/tensor_field/prepare_quartic.hpp"

namespace voxherd::tensor_field {

std::unique_ptr<field> make_quartic_field_cpu(const device& d, const tensor_image& image,
                                              std::span<const float> quartics, std::span<const std::uint32_t> regions,
                                              const prepare::recipe& r) {
  return make_field_on_cpu(d, image, regions, r, prepare::quartic_planes, 0,
                           [&](cpu_machine& machine, const prepare::workspace& w) {
                             prepare::prepare_quartic_field(machine, r, w, quartics.data());
                           });
}

}  // namespace voxherd::tensor_field
