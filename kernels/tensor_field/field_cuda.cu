#include "kernels/tensor_field/field_machine.cuh"

namespace voxherd::tensor_field {

std::unique_ptr<field> make_field_cuda(const device&, const tensor_image& image, std::span<const std::uint32_t> regions,
                                       const prepare::recipe& r) {
  const std::size_t n = r.size.voxels();
  const cuda_stream stream;
  auto made =
      std::make_unique<cuda_field>(n, static_cast<std::size_t>(field_floats(r.kind)), prepare::make_view(image));
  const auto measured = copied(image.tensor.data(), image.tensor.size(), stream);
  const auto inside = copied(image.inside.data(), image.inside.size(), stream);
  const auto words = copied(regions.data(), regions.size(), stream);
  const device_buffer<float> first(prepare::first_floats(r) * n), second(prepare::second_floats(r) * n);
  const device_buffer<prepare::tensor_state> before(n), after(n);
  const device_buffer<unsigned> repaired(1);
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(repaired.data(), 0, sizeof(unsigned), stream));

  const prepare::workspace work{measured.data(), inside.data(), words.data(),
                                first.data(),    second.data(), {before.data(), after.data()},
                                made->values(),  made->facts()};
  kernel_loader loader;
  prepare::prepare_field(loader, r, work);
  cuda_machine machine(stream, repaired.data());
  cuda_event begin, end;
  begin.record(stream);
  prepare::prepare_field(machine, r, work);
  end.record(stream);
  unsigned counted = 0;
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&counted, repaired.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  stream.wait();
  made->seconds = end.seconds_since(begin);
  made->repaired = counted;
  return made;
}

void copy_from_gpu(void* to, const void* from, std::size_t bytes) {
  VOXHERD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace voxherd::tensor_field
