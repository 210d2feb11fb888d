#include "kernels/tensor_field/field_machine.cuh"

namespace voxherd::tensor_field {

std::unique_ptr<field> make_field_cuda(const device&, const tensor_image& image, std::span<const std::uint32_t> regions,
                                       const prepare::recipe& r) {
  const cuda_stream stream;
  return make_field_on_gpu(stream, image, regions, r, prepare::first_floats(r), prepare::second_floats(r),
                           [&](auto& machine, const prepare::workspace& w) { prepare::prepare_field(machine, r, w); });
}

void copy_from_gpu(void* to, const void* from, std::size_t bytes) {
  VOXHERD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace voxherd::tensor_field
