#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "kernels/connect/lattice.hpp"
#include "kernels/portable/simd_math.hpp"

namespace voxherd::connect {

namespace detail {

constexpr auto all_cube_places() {
  std::array<std::int32_t, block_cells> places{};
  for (int c = 0; c < block_cells; ++c) places[static_cast<std::size_t>(c)] = cube_place(c);
  return places;
}

}  // namespace detail

/// One CPU thread working on a block; a number is a SIMD register of several cells. Same interface as cuda_block_team.
struct cpu_block_team {
  using number = lane::float_lanes;
  using words = lane::word_lanes;
  static constexpr int lanes = static_cast<int>(number::size());
  static constexpr int chunks = block_cells / lanes;
  static_assert(block_cells % lanes == 0);
  static constexpr auto cube_places = detail::all_cube_places();

  /// N numbers per cell.
  template <int N>
  struct cell_numbers {
    alignas(64) float numbers[N][block_cells];
    VOXHERD_INLINED void set(int chunk, int n, const words&, number x) { store(numbers[n], chunk, x); }
    VOXHERD_INLINED void put(const cpu_block_team&, int chunk, int n, number x) { store(numbers[n], chunk, x); }
    VOXHERD_INLINED number get(const cpu_block_team& team, int chunk, int n) const {
      return team.load(numbers[n], chunk);
    }
  };

  /// N numbers per cell, in planes of constant memory.
  template <int N>
  struct fixed_numbers {
    const float* planes;
    explicit fixed_numbers(const float* first) : planes(first) {}
    void load(const cpu_block_team&, int) const {}
    VOXHERD_INLINED number get(const cpu_block_team& team, int chunk, int n) const {
      return team.load(planes + n * block_cells, chunk);
    }
  };

  template <int N>
  struct fixed_words {
    const std::uint32_t* planes;
    explicit fixed_words(const std::uint32_t* first) : planes(first) {}
    void load(const cpu_block_team&, int) const {}
    VOXHERD_INLINED words get(int chunk, int n, const words&) const {
      return cpu_block_team::load(planes + n * block_cells, chunk);
    }
  };

  /// N indices per cell into the block's values.
  template <int N>
  struct cell_places {
    alignas(64) std::uint32_t places[N][block_cells];
    VOXHERD_INLINED void set(const float*, int chunk, int n, const words&, words place) {
      store(places[n], chunk, place);
    }
    VOXHERD_INLINED number read(const float* values, int chunk, int n) const {
      return lane::gather_of_64(values, load(places[n], chunk));
    }
  };

  /// The cells' own numbers in a cube (cube_block.hpp), or those at an offset `step` (cube_step()).
  number read_cube(const float* cube, int chunk, int step) const {
    return lane::gather(cube, cube_places.data() + chunk * lanes, step);
  }
  void write_cube(float* cube, int chunk, number x) const {
    for (int l = 0; l < lanes; ++l)
      cube[cube_places[static_cast<std::size_t>(chunk * lanes + l)]] = x[static_cast<std::size_t>(l)];
  }
  /// Whether any bit of the cells' words is set.
  bool any_set(const std::uint32_t* of_block, int chunk) const {
    std::uint32_t all = 0;
    for (int l = 0; l < lanes; ++l) all |= of_block[chunk * lanes + l];
    return all != 0;
  }
  number unless_set(const std::uint32_t* of_block, int chunk, int bit, number x, float otherwise) const {
    const number set(
        [&](auto l) { return static_cast<float>(of_block[chunk * lanes + static_cast<int>(l)] >> bit & 1); });
    return lane::select(set > 0.5f, number(otherwise), x);
  }

  /// Calls work(cells) once, for all cells of the chunk.
  template <class Work>
  VOXHERD_INLINED void each_cell(int chunk, const Work& work) const {
    work(words([&](auto l) { return static_cast<std::uint32_t>(chunk * lanes + static_cast<int>(l)); }));
  }

  VOXHERD_INLINED static number load(const float* of_block, int chunk) {
    return number(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  VOXHERD_INLINED static words load(const std::uint32_t* of_block, int chunk) {
    return words(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  VOXHERD_INLINED static void store(float* of_block, int chunk, number x) {
    x.copy_to(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  VOXHERD_INLINED static void store(std::uint32_t* of_block, int chunk, words x) {
    x.copy_to(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  /// list[first + plane + cell] of each cell.
  VOXHERD_INLINED words pick(const std::uint32_t* list, std::size_t first, int plane, const words& cells) const {
    return words(list + first + plane + cells[0], lane::stdx::element_aligned);
  }
  VOXHERD_INLINED number pick(const float* list, std::size_t first, int plane, const words& cells) const {
    return number(list + first + plane + cells[0], lane::stdx::element_aligned);
  }
  /// Like load(), for data that other teams write.
  number fetch_cells(const float* of_block, int chunk) const { return load(of_block, chunk); }
  template <class T>
  T fetch(const T* from) const {
    return std::atomic_ref<T>(*const_cast<T*>(from)).load(std::memory_order_relaxed);
  }
  /// values[place] or `otherwise`; `spare`: places that are safe to read. With --in-place other teams may write the
  /// values meanwhile; each number is written whole.
  VOXHERD_INLINED number fetch_if(const words::mask_type& condition, const float* values, words place, words spare,
                                  number otherwise) const {
    if (lane::stdx::none_of(condition)) return otherwise;
    return lane::select(condition, lane::gather(values, lane::select(condition, place, spare)), otherwise);
  }
  /// base[block] of each; base: offsets of the values of the blocks read.
  VOXHERD_INLINED words find_base(const std::uint32_t* base, words block) const {
    return lane::stdx::all_of(block < 32) ? lane::gather_of_32(base, block) : lane::gather(base, block);
  }
  /// Values of the neighbours in other blocks; `unreached` for those in this block.
  number fetch_outside(const float* values, const std::uint32_t* base, words neighbour, const words& cells) const {
    const words place = find_base(base, neighbour / block_cells) + neighbour % block_cells;
    return fetch_if(neighbour >= block_cells, values, place, base[0] + cells, unreached);
  }
  /// The smaller value of a pair (pair_index()), counting only neighbours within the block.
  number lesser_inside(const float* own, const std::uint32_t* pairs, int chunk) const {
    const words pair = load(pairs, chunk);
    number least = unreached;
    for (const words neighbour : {pair & 0xffffu, pair >> 16})
      least = lane::min(least,
                        lane::select(neighbour < block_cells, lane::gather_of_64(own, neighbour), number(unreached)));
    return least;
  }
  void put(std::uint32_t* to, std::uint32_t x) const {
    std::atomic_ref<std::uint32_t>(*to).store(x, std::memory_order_relaxed);
  }
  /// *to = min(*to, x), atomically.
  void lower(float* to, float x) const {
    std::atomic_ref<float> target(*to);
    float old = target.load(std::memory_order_relaxed);
    while (x < old && !target.compare_exchange_weak(old, x, std::memory_order_relaxed)) {
    }
  }

  bool any(const number::mask_type& m) const { return lane::stdx::any_of(m); }
  /// True if any lane running in step is; may differ within the team.
  bool any_lane(const number::mask_type& m) const { return lane::stdx::any_of(m); }
  /// Bit mask over the cells of the block.
  std::uint64_t bits(const number::mask_type& m, int chunk) const { return lane::bits(m) << (chunk * lanes); }
  /// Combines the values of all members of the team: bitwise or, minimum.
  float of_all(std::uint32_t*, std::uint64_t&, number least) const { return lane::stdx::hmin(least); }
  void sync() const {}
  void publish() const {}
  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  template <class Work>
  void once(const Work& work) const {
    work();
  }
};

}  // namespace voxherd::connect
