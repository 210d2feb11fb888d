#pragma once

#include <cstdint>

#include "kernels/connect/block_visit.hpp"
#include "kernels/connect/cuda_block_team.cuh"
#include "kernels/connect/lattice.hpp"
#include "kernels/device/launch.cuh"

/// All rounds of all fronts in one cooperative kernel, without involving the host.
namespace voxherd::connect {

/// For callables that use one thread each.
struct cuda_thread_team {
  __host__ __device__ void lower(float* to, float x) const {
#if defined(__CUDA_ARCH__)
    atomicMin(reinterpret_cast<int*>(to), __float_as_int(x));
#endif
  }
};

using round_team = cuda_block_team<2>;
/// Threads per block, with one block per multiprocessor, so that few blocks meet after a round: limited by the
/// registers that the scheme needs.
template <class Scheme>
inline constexpr int round_threads = Scheme::order == 2 ? 768 : 896;
/// Woken blocks that a thread block collects before appending them to the global list.
inline constexpr std::uint32_t collected = 2048;
/// Up to this number of fronts, each thread block first reduces the earliest triggers locally.
inline constexpr std::uint32_t gathered_fronts = 256;

/// Entries that a team examines together, one per lane of its first warp.
inline constexpr std::uint32_t max_part = 32;

/// How the teams share a round's entries: about half by the team's number, one part each, and the rest by a
/// counter in small parts, as a visit takes one to four iterations.
struct round_shares {
  std::uint32_t first_part, next_part, counted_from;

  __device__ round_shares(std::uint32_t entries, std::uint32_t teams) {
    const std::uint32_t half = entries / (2 * teams);
    first_part = part(half);
    next_part = part(half / 8);
    counted_from = teams * first_part;
  }

 private:
  __device__ static std::uint32_t part(std::uint32_t size) { return min(max(size, 1u), max_part); }
};

struct round_counts {
  std::uint64_t visits;
  std::uint32_t next_round;
  std::uint32_t unused;
};

/// Lists of awake blocks. An entry is a block of a front, front * blocks + block. The lists are unordered; no round
/// depends on their order.
struct round_lists {
  std::uint32_t* entry[2];  ///< (fronts * blocks), by parity of the round
  /// By round modulo 3: the count in the lower half; in the upper half the thread blocks that have appended theirs.
  unsigned long long* count[3];
  std::uint32_t* taken[3];  ///< by round modulo 3: entries shared by the counter
  float* limit[2];          ///< (fronts), by parity: blocks with later triggers wait
};

template <class Scheme>
class round_worker {
 public:
  using visit_type = block_visit<round_team, Scheme>;
  static constexpr int threads = round_threads<Scheme>, teams_here = threads / round_team::lanes;
  struct shared {
    typename visit_type::scratch scratch[teams_here];
    uint2 todo[teams_here][max_part];  ///< front, block
    std::uint32_t todo_count[teams_here];
    std::uint32_t next[teams_here];  ///< first entry of the team's next part
    std::uint32_t woken[collected];
    float earliest[gathered_fronts];  ///< earliest trigger of the next round
    /// The last two are written by atomics: racecheck reports plain writes, although the block's barrier is between
    /// them and the reads.
    std::uint32_t woken_count, first_place, awake;
  };

  __device__ round_worker(const visit_type& visit, const round_lists& lists, shared& s)
      : visit_(visit), lists_(lists), s_(s), team_number_(threadIdx.x / round_team::lanes) {}

  __device__ void begin(std::uint32_t round) const {
    const front_view& f = visit_.front;
    if (threadIdx.x == 0) s_.woken_count = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      __stcg(lists_.count[(round + 2) % 3], 0ull);
      __stcg(lists_.taken[(round + 2) % 3], 0u);
    }
    if (waits()) {
      for (std::uint32_t k = threadIdx.x; k < f.fronts; k += threads) {
        if (k < gathered_fronts) s_.earliest[k] = unreached;
        if (blockIdx.x != 0) continue;
        // No team reads or writes the entries for the round after next in this round.
        __stcg(f.least[(round + 2) % 3] + k, unreached);
        __stcg(lists_.limit[round % 2] + k, wake_limit(k, round));
      }
    }
    __syncthreads();
  }

  /// Waits until all thread blocks have appended what is awake in the next round; returns the number of entries. Both
  /// are in one word, which saves a round trip to the second-level cache.
  __device__ std::uint32_t meet(std::uint32_t round) const {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned long long* const count = lists_.count[(round + 1) % 3];
      __threadfence();
      atomicAdd(count, 1ull << 32);
      unsigned long long seen = 0;
      do {
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(seen) : "l"(count) : "memory");
      } while (seen >> 32 < gridDim.x);
      atomicExch(&s_.awake, static_cast<std::uint32_t>(seen));
    }
    __syncthreads();
    return s_.awake;
  }

  __device__ std::uint64_t run(std::uint32_t round, std::uint32_t awake) const {
    std::uint64_t visits = 0;
    std::uint32_t first = (blockIdx.x + gridDim.x * team_number_) * shares(awake).first_part;
    while (first < awake) {
      if (team_.lane < 32) choose(round, first, awake);
      team_.sync();
      const std::uint32_t count = s_.todo_count[team_number_];
      for (std::uint32_t n = 0; n < count; ++n) {
        const uint2 next = s_.todo[team_number_][n];
        visit_(team_, s_.scratch[team_number_], next.x, next.y, round, [&](std::uint32_t block, float when) {
          wake(round, next.x * visit_.front.blocks + block, next.x, when);
        });
        team_.sync();
      }
      visits += count;
      first = s_.next[team_number_];
      team_.sync();
    }
    __syncthreads();
    put_on_list(round);
    return visits;
  }

 private:
  __device__ static round_shares shares(std::uint32_t awake) { return {awake, gridDim.x * teams_here}; }

  __device__ bool waits() const { return visit_.rules.cut < unreached; }

  /// Increases even if the earliest trigger does not, so that slowly converging values do not block the front.
  __device__ float wake_limit(std::uint32_t k, std::uint32_t round) const {
    return fmaxf(__ldcg(visit_.front.least[round % 3] + k) + visit_.rules.cut,
                 __ldcg(lists_.limit[(round + 1) % 2] + k) + visit_.rules.growth);
  }

  /// Called by the team's first warp, one entry per lane: selects the entries to visit now; the others continue to
  /// wait. Takes the team's next part.
  __device__ void choose(std::uint32_t round, std::uint32_t first, std::uint32_t awake) const {
    const front_view& f = visit_.front;
    const round_shares all = shares(awake);
    std::uint32_t next = awake;
    if (team_.lane == 0 && all.counted_from < awake)
      next = all.counted_from + atomicAdd(lists_.taken[round % 3], all.next_part);
    const std::uint32_t end = min(first + (first < all.counted_from ? all.first_part : all.next_part), awake);
    const std::uint32_t i = first + static_cast<std::uint32_t>(team_.lane);
    std::uint32_t entry = 0, k = 0;
    bool now = i < end;
    if (now) {
      entry = __ldcg(lists_.entry[round % 2] + i);
      float* trigger = f.triggers(0, round) + entry;
      k = f.fronts == 1 ? 0 : entry / f.blocks;
      // Reset before any value is read: from now on a wake-up is for another visit.
      const float t = __int_as_float(atomicExch(reinterpret_cast<int*>(trigger), __float_as_int(unreached)));
      if (waits()) {
        now = t <= wake_limit(k, round);
        if (!now) wake(round, entry, k, t);
      }
    }
    const unsigned chosen = __ballot_sync(0xffffffffu, now);
    if (now) s_.todo[team_number_][__popc(chosen & ((1u << team_.lane) - 1))] = make_uint2(k, entry - k * f.blocks);
    if (team_.lane != 0) return;
    s_.todo_count[team_number_] = static_cast<std::uint32_t>(__popc(chosen));
    s_.next[team_number_] = next;
  }

  /// Wakes an entry for the next round. The first caller appends it to the list.
  __device__ void wake(std::uint32_t round, std::uint32_t entry, std::uint32_t k, float when) const {
    const front_view& f = visit_.front;
    if (waits()) team_.lower(k < gathered_fronts ? s_.earliest + k : f.least[(round + 1) % 3] + k, when);
    if (team_.lower(f.triggers(0, round + 1) + entry, when) < unreached) return;
    const std::uint32_t place = atomicAdd(&s_.woken_count, 1u);
    if (place < collected)
      s_.woken[place] = entry;
    else
      lists_.entry[(round + 1) % 2][append(lists_.count[(round + 1) % 3], 1)] = entry;
  }

  __device__ void put_on_list(std::uint32_t round) const {
    const front_view& f = visit_.front;
    const std::uint32_t count = min(s_.woken_count, collected);
    if (threadIdx.x == 0 && count > 0) atomicExch(&s_.first_place, append(lists_.count[(round + 1) % 3], count));
    if (waits() && threadIdx.x < f.fronts && threadIdx.x < gathered_fronts && s_.earliest[threadIdx.x] < unreached)
      team_.lower(f.least[(round + 1) % 3] + threadIdx.x, s_.earliest[threadIdx.x]);
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += threads)
      __stcg(lists_.entry[(round + 1) % 2] + s_.first_place + i, s_.woken[i]);
  }

  __device__ static std::uint32_t append(unsigned long long* count, std::uint32_t entries) {
    return static_cast<std::uint32_t>(atomicAdd(count, static_cast<unsigned long long>(entries)));
  }

  const visit_type& visit_;
  const round_lists& lists_;
  shared& s_;
  round_team team_;
  std::uint32_t team_number_;
};

template <class Scheme>
__global__ void __launch_bounds__(round_threads<Scheme>, 1)
    round_kernel(const __grid_constant__ block_visit<round_team, Scheme> visit,
                 const __grid_constant__ round_lists lists, std::uint32_t round, std::uint32_t most,
                 round_counts* counts) {
  __shared__ typename round_worker<Scheme>::shared s;
  const round_worker<Scheme> worker(visit, lists, s);
  std::uint64_t visits = 0;
  auto awake = static_cast<std::uint32_t>(__ldcg(lists.count[round % 3]));
  for (; round < most && awake > 0; ++round) {
    worker.begin(round);
    visits += worker.run(round, awake);
    awake = worker.meet(round);
  }
  if (threadIdx.x % round_team::lanes == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&counts->visits), static_cast<unsigned long long>(visits));
  if (blockIdx.x == 0 && threadIdx.x == 0) counts->next_round = round;
}

/// Appends the entries with a trigger for `round` to its list. One index per entry.
struct list_starter {
  front_view front;
  round_lists lists;
  std::uint32_t round;

  __device__ void operator()(std::uint32_t entry) const {
    if (front.triggers(0, round)[entry] < unreached)
      lists.entry[round % 2][atomicAdd(lists.count[round % 3], 1ull)] = entry;
  }
};

/// Launches as many thread blocks as fit on the device at once.
template <class Scheme>
void launch_rounds(const block_visit<round_team, Scheme>& visit, const round_lists& lists, std::uint32_t round,
                   std::uint32_t most, round_counts* counts, cudaStream_t stream) {
  const auto thread_blocks = static_cast<unsigned>(resident_blocks(round_kernel<Scheme>, {round_threads<Scheme>}));
  auto v = visit;
  auto l = lists;
  void* arguments[] = {&v, &l, &round, &most, &counts};
  VOXHERD_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(round_kernel<Scheme>),
                                                 dim3(thread_blocks), dim3(round_threads<Scheme>), arguments, 0,
                                                 stream));
}

}  // namespace voxherd::connect
