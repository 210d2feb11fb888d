#include "kernels/ballstick/cuda_fit_kernel.cuh"

// One translation unit a fibre count, so that they compile side by side.
template void voxherd::ballstick::launch_fits<2>(const settings&, const fit_job&, cudaStream_t);
