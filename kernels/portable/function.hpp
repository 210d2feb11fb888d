#pragma once

/// Marks what runs on the host and on the device alike.
#if defined(__CUDACC__)
#define VOXHERD_FUNCTION __host__ __device__
#else
#define VOXHERD_FUNCTION
#endif
