#include "kernels/geodesic/quartic_field_backends.hpp"
#include "kernels/tensor_field/field_machine.cuh"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cuda(const tensor_image& image, std::span<const float> quartics,
                                               std::span<const std::uint32_t> regions, const prepare::recipe& r) {
  const std::size_t n = r.size.voxels();
  const cuda_stream stream;
  auto made =
      std::make_unique<cuda_field>(n, static_cast<std::size_t>(field_floats(r.kind)), prepare::make_view(image));
  const auto measured = copied(image.tensor.data(), image.tensor.size(), stream);
  const auto norms = copied(quartics.data(), quartics.size(), stream);
  const auto inside = copied(image.inside.data(), image.inside.size(), stream);
  const auto words = copied(regions.data(), regions.size(), stream);
  const device_buffer<float> first(quartic_steps::quartic_planes * n);
  const device_buffer<prepare::tensor_state> before(n), after(n);
  const device_buffer<unsigned> repaired(1);
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(repaired.data(), 0, sizeof(unsigned), stream));

  const prepare::workspace work{measured.data(), inside.data(), words.data(),
                                first.data(),    nullptr,       {before.data(), after.data()},
                                made->values(),  made->facts()};
  kernel_loader loader;
  quartic_steps::prepare_quartic_field(loader, r, work, norms.data());
  cuda_machine machine(stream, repaired.data());
  cuda_event begin, end;
  begin.record(stream);
  quartic_steps::prepare_quartic_field(machine, r, work, norms.data());
  end.record(stream);
  unsigned counted = 0;
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&counted, repaired.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  stream.wait();
  made->seconds = end.seconds_since(begin);
  made->repaired = counted;
  return made;
}

}  // namespace voxherd::geodesic
