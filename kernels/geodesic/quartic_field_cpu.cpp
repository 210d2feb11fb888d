#include "kernels/geodesic/quartic_field_backends.hpp"
#include "kernels/tensor_field/field_machine_cpu.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cpu(const device& d, const tensor_image& image,
                                              std::span<const float> quartics, std::span<const std::uint32_t> regions,
                                              const prepare::recipe& r) {
  const std::size_t n = r.size.voxels();
  auto made = std::make_unique<cpu_field>(n, static_cast<std::size_t>(field_floats(r.kind)), prepare::make_view(image));
  const aligned_array<float> first(quartic_steps::quartic_planes * n);
  const aligned_array<prepare::tensor_state> before(n), after(n);
  const auto begin = std::chrono::steady_clock::now();
  cpu_machine machine(d.threads);
  quartic_steps::prepare_quartic_field(machine, r,
                                       {image.tensor.data(),
                                        image.inside.data(),
                                        regions.empty() ? nullptr : regions.data(),
                                        first.data(),
                                        nullptr,
                                        {before.data(), after.data()},
                                        made->values(),
                                        made->facts()},
                                       quartics.data());
  made->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  made->repaired = machine.repaired;
  return made;
}

}  // namespace voxherd::geodesic
