#include "kernels/tensor_field/field_machine_cpu.hpp"

namespace voxherd::tensor_field {

std::unique_ptr<field> make_field_cpu(const device& d, const tensor_image& image,
                                      std::span<const std::uint32_t> regions, const prepare::recipe& r) {
  return make_field_on_cpu(
      d, image, regions, r, prepare::first_floats(r), prepare::second_floats(r),
      [&](cpu_machine& machine, const prepare::workspace& w) { prepare::prepare_field(machine, r, w); });
}

}  // namespace voxherd::tensor_field
