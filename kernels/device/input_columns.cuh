#pragma once

#include "core/input_layout.hpp"
#include "kernels/device/cuda_check.cuh"

namespace voxherd {

/// in: rows x columns, out: columns x rows. Blocks of 32 x 8 threads, each for a tile of 32 x 32.
template <class T>
__global__ void transpose_kernel(const T* in, T* out, std::size_t rows, std::size_t columns) {
  __shared__ T tile[32][33];  // odd width: elements of a column are in different banks
  const std::size_t row = std::size_t{32} * blockIdx.x, column = std::size_t{32} * blockIdx.y;
  for (unsigned i = threadIdx.y; i < 32; i += 8)
    if (row + i < rows && column + threadIdx.x < columns)
      tile[i][threadIdx.x] = in[(row + i) * columns + column + threadIdx.x];
  __syncthreads();
  for (unsigned i = threadIdx.y; i < 32; i += 8)
    if (column + i < columns && row + threadIdx.x < rows)
      out[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
}

/// A batch's input in columns on the GPU, for kernels with one voxel per thread. Keeps its memory from one batch to the
/// next; rows take twice as much.
class input_columns {
 public:
  explicit input_columns(std::size_t row_floats) : row_floats_(row_floats) {}

  /// Copies `row_floats` of each of `count` voxels. `values` must exist until the stream has been synchronised; the
  /// result is valid until the next call. Throws device_out_of_memory.
  const float* send(const float* values, std::size_t count, input_layout layout, cudaStream_t stream) {
    const std::size_t floats = count * row_floats_;
    columns_.reserve(floats);
    if (layout == input_layout::rows) rows_.reserve(floats);
    float* const to = layout == input_layout::rows ? rows_.data() : columns_.data();
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, values, floats * sizeof(float), cudaMemcpyHostToDevice, stream));
    if (layout == input_layout::rows) transpose(count, stream);
    return columns_.data();
  }

  void release() { rows_ = {}, columns_ = {}; }

 private:
  /// Rows are the long dimension and are mapped to the grid's x.
  void transpose(std::size_t count, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>((count + 31) / 32), static_cast<unsigned>((row_floats_ + 31) / 32));
    transpose_kernel<<<grid, dim3(32, 8), 0, stream>>>(rows_.data(), columns_.data(), count, row_floats_);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
  }

  std::size_t row_floats_;
  device_buffer<float> rows_, columns_;
};

}  // namespace voxherd
