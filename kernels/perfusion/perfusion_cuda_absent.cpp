#include "kernels/perfusion/backends.hpp"

namespace voxherd::perfusion {

std::unique_ptr<fitter> make_fitter_cuda(const device&, const time_course&, const conversion&, const fit_settings&) {
  throw device_error("voxherd perfusion: built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::perfusion
