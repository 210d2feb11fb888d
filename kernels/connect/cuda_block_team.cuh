#pragma once

#include <cstdint>

#include "kernels/connect/lattice.hpp"

namespace voxherd::connect {

/// One or two warps working on a block. Same interface as cpu_block_team. Data written by other teams are read past the
/// first-level cache, which is not coherent.
template <int Warps>
struct cuda_block_team {
  static_assert(Warps == 1 || Warps == 2);
  using number = float;
  using words = std::uint32_t;
  static constexpr int lanes = 32 * Warps, chunks = block_cells / lanes;

  __device__ cuda_block_team() : lane(static_cast<int>(threadIdx.x) % lanes) {}
  int lane;

  template <int N>
  struct cell_numbers {
    float numbers[chunks][N];
    __device__ void set(int chunk, int n, int, float x) { numbers[chunk][n] = x; }
    __device__ void put(const cuda_block_team&, int chunk, int n, float x) { numbers[chunk][n] = x; }
    __device__ float get(const cuda_block_team&, int chunk, int n) const { return numbers[chunk][n]; }
  };

  /// Constant numbers and words, read once into registers.
  template <int N>
  struct fixed_numbers {
    const float* planes;
    float numbers[chunks][N];
    __device__ explicit fixed_numbers(const float* first) : planes(first) {}
    __device__ void load(const cuda_block_team& team, int chunk) {
#pragma unroll
      for (int n = 0; n < N; ++n) numbers[chunk][n] = __ldg(planes + n * block_cells + chunk * lanes + team.lane);
    }
    __device__ float get(const cuda_block_team&, int chunk, int n) const { return numbers[chunk][n]; }
  };
  template <int N>
  struct fixed_words {
    const std::uint32_t* planes;
    std::uint32_t words[chunks][N];
    __device__ explicit fixed_words(const std::uint32_t* first) : planes(first) {}
    __device__ void load(const cuda_block_team& team, int chunk) {
#pragma unroll
      for (int n = 0; n < N; ++n) words[chunk][n] = __ldg(planes + n * block_cells + chunk * lanes + team.lane);
    }
    __device__ std::uint32_t get(int chunk, int n, int) const { return words[chunk][n]; }
  };

  /// Two addresses per register, as addresses in shared memory have 16 bits; set in increasing order.
  template <int N>
  struct cell_places {
    std::uint32_t packed[chunks][(N + 1) / 2];
    __device__ void set(const float* values, int chunk, int n, int, int place) {
      const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(values + place));
      packed[chunk][n / 2] = n % 2 == 0 ? address : packed[chunk][n / 2] | address << 16;
    }
    __device__ float read(const float*, int chunk, int n) const {
      const std::uint32_t address = n % 2 == 0 ? packed[chunk][n / 2] & 0xffff : packed[chunk][n / 2] >> 16;
      float value;
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
      return value;
    }
  };

  __device__ float read_cube(const float* cube, int chunk, int step) const {
    return cube[cube_place(chunk * lanes + lane) + step];
  }
  __device__ void write_cube(float* cube, int chunk, float x) const { cube[cube_place(chunk * lanes + lane)] = x; }
  __device__ bool any_set(const std::uint32_t* words, int chunk) const {
    return __any_sync(full_warp, __ldg(words + chunk * lanes + lane) != 0);
  }
  __device__ float unless_set(const std::uint32_t* words, int chunk, int bit, float x, float otherwise) const {
    return (__ldg(words + chunk * lanes + lane) >> bit & 1) != 0 ? otherwise : x;
  }

  __device__ float lesser_inside(const float* own, const std::uint32_t* pairs, int chunk) const {
    const std::uint32_t pair = __ldg(pairs + chunk * lanes + lane), a = pair & 0xffffu, b = pair >> 16;
    return fminf(a < block_cells ? own[a] : unreached, b < block_cells ? own[b] : unreached);
  }

  template <class Work>
  __device__ void each_cell(int chunk, const Work& work) const {
    work(chunk * lanes + lane);
  }

  __device__ float load(const float* of_block, int chunk) const { return of_block[chunk * lanes + lane]; }
  __device__ void store(float* of_block, int chunk, float x) const { of_block[chunk * lanes + lane] = x; }
  __device__ float fetch_cells(const float* of_block, int chunk) const {
    return __ldcg(of_block + chunk * lanes + lane);
  }
  template <class T>
  __device__ T fetch(const T* from) const {
    return __ldcg(from);
  }
  /// values[place] or `otherwise`, without a branch so that several loads can be in flight; `spare` is an index that is
  /// safe to read.
  __device__ float fetch_if(bool condition, const float* values, std::uint32_t place, std::uint32_t spare,
                            float otherwise) const {
    const float value = __ldcg(values + (condition ? place : spare));
    return condition ? value : otherwise;
  }
  /// base[number]; base: offset of the values of each block read.
  __device__ std::uint32_t find_base(const std::uint32_t* base, std::uint32_t number) const { return base[number]; }
  /// The value of a neighbour in another block.
  __device__ float fetch_outside(const float* values, const std::uint32_t* base, std::uint32_t neighbour, int) const {
    return fetch(values + base[neighbour / block_cells] + neighbour % block_cells);
  }
  /// list[first + plane + cell].
  template <class T>
  __device__ T pick(const T* list, std::size_t first, int plane, int cell) const {
    return list[first + static_cast<unsigned>(plane + cell)];
  }
  __device__ void put(std::uint32_t* to, std::uint32_t x) const { __stcg(to, x); }
  /// *to = min(*to, x), both at least 0, where integers have the same order. Returns the previous value.
  __device__ float lower(float* to, float x) const {
    return __int_as_float(atomicMin(reinterpret_cast<int*>(to), __float_as_int(x)));
  }

  /// Makes this lane's writes visible to all before its next writes.
  __device__ void publish() const { __threadfence(); }

  /// Barrier for the whole team, with an "any" vote.
  __device__ bool any(bool condition) const {
    if constexpr (Warps == 1) return __any_sync(full_warp, condition);
    int is;
    asm volatile(
        "{\n .reg .pred p, q;\n setp.ne.s32 p, %1, 0;\n barrier.cta.red.or.pred q, %2, %3, p;\n selp.s32 %0, 1, 0, "
        "q;\n}"
        : "=r"(is)
        : "r"(static_cast<int>(condition)), "r"(barrier()), "n"(lanes)
        : "memory");
    return is != 0;
  }
  __device__ bool any_lane(bool condition) const { return __any_sync(full_warp, condition); }
  __device__ std::uint64_t bits(bool condition, int chunk) const {
    const int shift = Warps == 1 ? 32 * chunk : lane & 32;
    return static_cast<std::uint64_t>(__ballot_sync(full_warp, condition)) << shift;
  }
  __device__ float of_all(std::uint32_t* exchange, std::uint64_t& bits, float least) const {
    const unsigned lowest = __reduce_min_sync(full_warp, __float_as_uint(least));
    if constexpr (Warps == 1) return __uint_as_float(lowest);
    const int warp = lane / 32;
    if (lane % 32 == 0) {
      exchange[warp] = static_cast<std::uint32_t>(bits >> (32 * warp));
      exchange[2 + warp] = lowest;
    }
    sync();
    bits = static_cast<std::uint64_t>(exchange[1]) << 32 | exchange[0];
    return __uint_as_float(min(exchange[2], exchange[3]));
  }
  __device__ void sync() const {
    if constexpr (Warps == 1)
      __syncwarp();
    else
      asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier()), "n"(lanes) : "memory");
  }
  template <class Work>
  __device__ void share(int count, const Work& work) const {
    for (int i = lane; i < count; i += lanes) work(i);
  }
  template <class Work>
  __device__ void once(const Work& work) const {
    if (lane == 0) work();
  }

 private:
  static constexpr unsigned full_warp = 0xffffffffu;
  /// Barrier 0 belongs to the thread block.
  __device__ static int barrier() { return 1 + static_cast<int>(threadIdx.x) / lanes; }
};

}  // namespace voxherd::connect
