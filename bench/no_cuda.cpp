#include "kernels/device/no_cuda.hpp"

#include "bench/geodesic_bytes.hpp"
#include "bench/perfusion_convolution.hpp"

// What bench/*.cu define, for a build without CUDA; other builds link it, too, but do not take anything from it.
// Qualified names must match their declarations.

std::unique_ptr<voxherd::bench::gpu_work> voxherd::bench::make_gpu_convolutions(convolution_method,
                                                                                const convolution_curves&) {
  refuse_cuda("perfusion_convolution_bench");
}

std::unique_ptr<voxherd::bench::gpu_work> voxherd::bench::make_gpu_costs(convolution_method, const cost_voxels&) {
  refuse_cuda("perfusion_convolution_bench");
}

std::unique_ptr<voxherd::bench::partial_tracer> voxherd::bench::make_partial_tracer_cuda(
    const geodesic::field&, std::span<const geodesic::seed>, const geodesic::ray_settings&, int) {
  refuse_cuda("geodesic_bytes_bench");
}
