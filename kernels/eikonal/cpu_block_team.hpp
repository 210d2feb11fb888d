#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/eikonal/lattice.hpp"
#include "kernels/portable/simd_gather.hpp"

namespace voxherd::eikonal {

/// One CPU thread that works on a block: a number is a SIMD register of as many cells. The same interface as
/// cuda_block_team.
struct cpu_block_team {
  using number = lane::float_lanes;
  static constexpr int lanes = static_cast<int>(number::size());
  static constexpr int chunks = block_cells / lanes;
  static_assert(block_cells % lanes == 0);

  /// N numbers a cell.
  template <int N>
  struct cell_numbers {
    alignas(64) float numbers[N][block_cells];
    void set(const cpu_block_team&, int, int n, int cell, float x) { numbers[n][cell] = x; }
    number get(const cpu_block_team& team, int chunk, int n) const { return team.load(numbers[n], chunk); }
  };

  /// N numbers a cell in planes of memory that does not change.
  template <int N>
  struct fixed_numbers {
    const float* planes;
    explicit fixed_numbers(const float* first) : planes(first) {}
    void load(const cpu_block_team&, int) const {}
    number get(const cpu_block_team& team, int chunk, int n) const {
      return team.load(planes + n * block_cells, chunk);
    }
  };

  /// N places a cell in an array of up to 256 numbers.
  template <int N>
  struct cell_places {
    alignas(64) std::int32_t places[N][block_cells];
    void set(const cpu_block_team&, int, int n, int cell, int place) { places[n][cell] = place; }
    number read(const cpu_block_team&, const float* values, int chunk, int n) const {
      return lane::gather(values, places[n] + chunk * lanes);
    }
  };

  template <class Work>
  void each_cell(int chunk, const Work& work) const {
    for (int l = 0; l < lanes; ++l) work(chunk * lanes + l);
  }

  number load(const float* of_block, int chunk) const {
    return number(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  void store(float* of_block, int chunk, number x) const {
    x.copy_to(of_block + chunk * lanes, lane::stdx::element_aligned);
  }
  /// Like load(), of what other teams write.
  number fetch_cells(const float* of_block, int chunk) const { return load(of_block, chunk); }
  template <class T>
  T fetch(const T* from) const {
    return std::atomic_ref<T>(*const_cast<T*>(from)).load(std::memory_order_relaxed);
  }
  void put(std::uint32_t* to, std::uint32_t x) const {
    std::atomic_ref<std::uint32_t>(*to).store(x, std::memory_order_relaxed);
  }
  /// *to = min(*to, x) whoever else does so.
  void lower(float* to, float x) const {
    std::atomic_ref<float> there(*to);
    float old = there.load(std::memory_order_relaxed);
    while (x < old && !there.compare_exchange_weak(old, x, std::memory_order_relaxed)) {
    }
  }

  bool any(const number::mask_type& m) const { return lane::stdx::any_of(m); }
  /// Which cells of the block.
  std::uint64_t bits(const number::mask_type& m, int chunk) const {
    std::uint64_t b = 0;
    for (int l = 0; l < lanes; ++l) b |= std::uint64_t{m[static_cast<std::size_t>(l)]} << l;
    return b << (chunk * lanes);
  }
  float least(number x) const { return lane::stdx::hmin(x); }
  void sync() const {}
  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  template <class Work>
  void once(const Work& work) const {
    work();
  }
};

}  // namespace voxherd::eikonal
