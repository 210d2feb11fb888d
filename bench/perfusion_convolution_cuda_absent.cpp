#include "bench/perfusion_convolution.hpp"
#include "core/device.hpp"

namespace voxherd::bench {

std::unique_ptr<gpu_work> make_gpu_convolutions(convolution_method, const convolution_curves&) {
  throw device_error("built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

std::unique_ptr<gpu_work> make_gpu_costs(convolution_method, const cost_voxels&) {
  throw device_error("built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::bench
