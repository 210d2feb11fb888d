#include "kernels/geodesic/paper/texture_field.cuh"

namespace voxherd::geodesic {

namespace {

__global__ void copy_channels(tensor_field::field_view f, int first_channel, cudaSurfaceObject_t to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= f.size[0]) return;
  const std::size_t voxel = x + f.size[0] * (y + std::size_t(f.size[1]) * z);
  surf3Dwrite(*reinterpret_cast<const float4*>(f.values + 24 * voxel + first_channel), to,
              x * static_cast<int>(sizeof(float4)), y, z);
}

cudaTextureObject_t make_texture(cudaArray_t array) {
  cudaResourceDesc from{};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  VOXHERD_CUDA_CHECK(cudaCreateTextureObject(&object, &from, &how, nullptr));
  return object;
}

void fill(cudaArray_t array, const tensor_field::field_view& f, int first_channel, cudaStream_t stream) {
  cudaResourceDesc to{};
  to.resType = cudaResourceTypeArray;
  to.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  VOXHERD_CUDA_CHECK(cudaCreateSurfaceObject(&surface, &to));
  constexpr int block = 128;
  const dim3 grid((f.size[0] + block - 1) / block, f.size[1], f.size[2]);
  copy_channels<<<grid, block, 0, stream>>>(f, first_channel, surface);
  const cudaError_t launched = cudaGetLastError(), done = cudaStreamSynchronize(stream);
  cudaDestroySurfaceObject(surface);
  VOXHERD_CUDA_CHECK(launched);
  VOXHERD_CUDA_CHECK(done);
}

}  // namespace

texture_field::texture_field(const tensor_field::field_view& f, cudaStream_t stream) {
  const auto four_floats = cudaCreateChannelDesc<float4>();
  const cudaExtent extent = make_cudaExtent(std::size_t(f.size[0]), std::size_t(f.size[1]), std::size_t(f.size[2]));
  for (int i = 0; i < 6; ++i) {
    VOXHERD_CUDA_CHECK(cudaMalloc3DArray(&arrays_[i], &four_floats, extent, cudaArraySurfaceLoadStore));
    fill(arrays_[i], f, 4 * i, stream);
    objects_[i] = make_texture(arrays_[i]);
  }
}

texture_field::~texture_field() {
  for (const auto object : objects_) {
    if (object != 0) cudaDestroyTextureObject(object);
  }
  for (const auto array : arrays_) {
    if (array != nullptr) cudaFreeArray(array);
  }
}

}  // namespace voxherd::geodesic
