#pragma once

#include <cuda_runtime.h>

#include "kernels/geodesic/trace_job.hpp"

namespace voxherd::geodesic {

/// Integrates the job's fibres with this form; all pointers refer to device memory. `next`: a counter used by the
/// kernel.
void launch_christoffel(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream);
void launch_finsler4(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream);
void launch_hamiltonian(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream);
void launch_streamline(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream);

}  // namespace voxherd::geodesic
