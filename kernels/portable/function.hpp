#pragma once

/// VOXHERD_FUNCTION marks what runs on the host and on the device alike.
/// VOXHERD_UNROLL stands before a loop whose arrays must stay in a GPU thread's registers, VOXHERD_KEEP_LOOP before one
/// whose copies would overflow a GPU's instruction cache.
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
