#pragma once

/// VOXHERD_FUNCTION marks functions for host and device. VOXHERD_UNROLL precedes a loop whose arrays must stay in a GPU
/// thread's registers.
#if defined(__CUDACC__)
#define VOXHERD_FUNCTION __host__ __device__
#define VOXHERD_UNROLL _Pragma("unroll")
#define VOXHERD_PRAGMA(text) _Pragma(#text)
#define VOXHERD_UNROLL_BY(n) VOXHERD_PRAGMA(unroll(n))
#else
#define VOXHERD_FUNCTION
#define VOXHERD_UNROLL
#define VOXHERD_UNROLL_BY(n)
#endif
