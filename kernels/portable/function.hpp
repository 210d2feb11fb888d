#pragma once

/// VOXHERD_FUNCTION marks what runs both on the host and on the device.
/// VOXHERD_INLINED marks one that is always part of its caller: GCC limits how much a source file grows by inlining,
/// and would call even what every step needs.
/// VOXHERD_INLINED_LAMBDA follows the parameters of such a lambda.
/// VOXHERD_UNROLL precedes a loop whose arrays must stay in a GPU thread's registers; VOXHERD_UNROLL_BY(n) unrolls a
/// loop n times, where unrolling it completely would overflow a GPU's instruction cache.
/// VOXHERD_SELECT(condition, a, b) is condition ? a : b, on a CPU for each lane of a register. For nvcc an expression:
/// with a function it orders the code around it differently, and connect loses 7 %.
#if defined(__CUDACC__)
#define VOXHERD_SELECT(condition, a, b) ((condition) ? (a) : (b))
#define VOXHERD_FUNCTION __host__ __device__
#define VOXHERD_UNROLL _Pragma("unroll")
#define VOXHERD_PRAGMA(text) _Pragma(#text)
#define VOXHERD_UNROLL_BY(n) VOXHERD_PRAGMA(unroll(n))
#else
#define VOXHERD_SELECT(condition, a, b) voxherd::lane::select(condition, a, b)
#define VOXHERD_FUNCTION
#define VOXHERD_UNROLL
#define VOXHERD_UNROLL_BY(n)
#endif
#define VOXHERD_INLINED [[gnu::always_inline]] VOXHERD_FUNCTION inline
#define VOXHERD_INLINED_LAMBDA __attribute__((always_inline))
