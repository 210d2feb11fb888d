#pragma once

#include <cooperative_groups.h>

#include "kernels/device/cuda_check.cuh"
#include "kernels/eikonal/block_visit.hpp"
#include "kernels/eikonal/cuda_block_team.cuh"

/// All rounds of all fronts in one cooperative kernel: the host looks at nothing until it ends.
namespace voxherd::eikonal {

inline constexpr int round_threads = 512, round_teams_warps = 2;
using round_team = cuda_block_team<round_teams_warps>;
inline constexpr int round_teams = round_threads / round_team::lanes;
inline constexpr int list_length = 4 * round_threads;
/// Up to so many fronts have their earliest trigger gathered by each thread block first.
inline constexpr std::uint32_t gathered_fronts = 256;
/// Entries side by side in memory that belong to the same thread block: one sector of 32 bytes.
inline constexpr std::uint32_t entry_group = 8;

struct round_counts {
  std::uint64_t visits;
  std::uint32_t next_round;
  std::uint32_t unused;
};

/// An entry is a block of a front. Each thread block watches over its own share of them, spread over all, and its
/// teams visit those awake.
template <class Scheme>
class round_worker {
 public:
  using visit_type = block_visit<round_team, Scheme>;
  struct shared {
    typename visit_type::scratch scratch[round_teams];
    std::uint32_t list[list_length];
    float earliest[gathered_fronts];  ///< what will wake somebody in the next round
    std::uint32_t listed;
  };

  __device__ round_worker(const visit_type& visit, shared& s) : visit_(visit), s_(s) {}

  __device__ bool anybody_awake(std::uint32_t round) const {
    const front_view& f = visit_.front;
    bool awake = false;
    for (std::uint32_t k = threadIdx.x; k < f.fronts; k += round_threads) {
      awake = awake || __ldcg(f.least[round % 3] + k) < unreached;
      if (k < gathered_fronts) s_.earliest[k] = unreached;
      // Nobody reads or writes those of the round after next in this one.
      if (blockIdx.x == 0) __stcg(f.least[(round + 2) % 3] + k, unreached);
    }
    if (threadIdx.x == 0) s_.listed = 0;
    return __syncthreads_or(awake) != 0;
  }

  __device__ std::uint64_t run(std::uint32_t round) const {
    const front_view& f = visit_.front;
    const std::uint32_t entries = f.fronts * f.blocks, groups = (entries + entry_group - 1) / entry_group;
    const std::uint32_t own = (groups + gridDim.x - 1) / gridDim.x * entry_group;
    std::uint64_t visits = 0;
    for (std::uint32_t first = 0; first < own; first += list_length) {
      for (std::uint32_t i = first + threadIdx.x; i < own && i < first + list_length; i += round_threads) {
        const std::uint32_t entry = (i / entry_group * gridDim.x + blockIdx.x) * entry_group + i % entry_group;
        if (entry < entries) look_at(entry, round);
      }
      __syncthreads();
      const std::uint32_t listed = s_.listed, team = threadIdx.x / round_team::lanes;
      for (std::uint32_t n = team; n < listed; n += round_teams) {
        const std::uint32_t k = s_.list[n] / f.blocks;
        visit_(round_team{}, s_.scratch[team], k, s_.list[n] % f.blocks, round, earliest_of(k, round));
      }
      visits += listed;
      __syncthreads();
      if (threadIdx.x == 0) s_.listed = 0;
      if (first + list_length < own) __syncthreads();
    }
    if (f.fronts <= gathered_fronts && threadIdx.x < f.fronts && s_.earliest[threadIdx.x] < unreached)
      round_team{}.lower(f.least[(round + 1) % 3] + threadIdx.x, s_.earliest[threadIdx.x]);
    return visits;
  }

 private:
  __device__ float* earliest_of(std::uint32_t k, std::uint32_t round) const {
    return visit_.front.fronts <= gathered_fronts ? s_.earliest + k : visit_.front.least[(round + 1) % 3] + k;
  }

  __device__ void look_at(std::uint32_t entry, std::uint32_t round) const {
    const front_view& f = visit_.front;
    float* trigger = f.trigger[round % 2] + entry;
    const float t = __ldcg(trigger);
    if (!(t < unreached)) return;
    __stcg(trigger, unreached);
    const std::uint32_t k = entry / f.blocks;
    if (t <= __ldcg(f.least[round % 3] + k) + visit_.rules.cut) {
      s_.list[atomicAdd(&s_.listed, 1u)] = entry;
    } else {
      const round_team team;
      team.lower(f.trigger[(round + 1) % 2] + entry, t);
      team.lower(earliest_of(k, round), t);
    }
  }

  const visit_type& visit_;
  shared& s_;
};

template <class Scheme>
__global__ void __launch_bounds__(round_threads, 2)
    round_kernel(const __grid_constant__ block_visit<round_team, Scheme> visit, std::uint32_t round, std::uint32_t most,
                 round_counts* counts) {
  __shared__ typename round_worker<Scheme>::shared s;
  const round_worker<Scheme> worker(visit, s);
  std::uint64_t visits = 0;
  for (; round < most && worker.anybody_awake(round); ++round) {
    visits += worker.run(round);
    cooperative_groups::this_grid().sync();
  }
  if (threadIdx.x != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&counts->visits), static_cast<unsigned long long>(visits));
  if (blockIdx.x == 0) counts->next_round = round;
}

/// As many thread blocks as the device holds at once.
template <class Scheme>
int resident_blocks(int device) {
  int per_processor = 0, processors = 0;
  VOXHERD_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, round_kernel<Scheme>, round_threads, 0));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return per_processor * processors;
}

template <class Scheme>
void launch_rounds(const block_visit<round_team, Scheme>& visit, std::uint32_t round, std::uint32_t most,
                   round_counts* counts, int thread_blocks, cudaStream_t stream) {
  auto v = visit;
  void* arguments[] = {&v, &round, &most, &counts};
  VOXHERD_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(round_kernel<Scheme>),
                                                 dim3(static_cast<unsigned>(thread_blocks)), dim3(round_threads),
                                                 arguments, 0, stream));
}

}  // namespace voxherd::eikonal
