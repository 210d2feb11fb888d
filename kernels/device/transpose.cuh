#pragma once

#include <cstddef>

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

/// Rows are the long dimension and are mapped to the grid's x.
template <class T>
void launch_transpose(const T* in, T* out, std::size_t rows, std::size_t columns, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((rows + 31) / 32), static_cast<unsigned>((columns + 31) / 32));
  transpose_kernel<<<grid, dim3(32, 8), 0, stream>>>(in, out, rows, columns);
}

}  // namespace voxherd
