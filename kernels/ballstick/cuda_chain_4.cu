#include "kernels/ballstick/cuda_chain_kernel.cuh"

// One translation unit a fibre count, so that they compile side by side.
template void voxherd::ballstick::launch_chains<4>(const settings&, const chain_job&, const chain_shape&, cudaStream_t);
