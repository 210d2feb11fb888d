#include "kernels/ballstick/backends.hpp"

namespace voxherd::ballstick {

std::unique_ptr<estimator> make_cuda_estimator(const device&, const gradient_table&, const settings&, bool) {
  throw device_error("ballstick: this voxherd was built without CUDA");
}

}  // namespace voxherd::ballstick
