#pragma once

#include <cuda_runtime.h>

#include "kernels/geodesic/trace_job.hpp"

namespace voxherd::geodesic {

/// Integrates the job's fibres with this form; all pointers refer to device memory. `next_fibre`: a counter used by the
/// kernel. One unit per form: kernels/CMakeLists.txt.
template <ray_form Form>
void launch_form(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream);

}  // namespace voxherd::geodesic
