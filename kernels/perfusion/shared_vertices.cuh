#pragma once

#include <cstddef>

#include "kernels/perfusion/settings.hpp"
#include "kernels/portable/function.hpp"

namespace voxherd::perfusion {

/// The vertices of a thread's simplex, like register_vertices: the worst in registers, the others in the shared memory
/// of the block, where only their order changes, but for exchanges with the worst. Registers are then free for the
/// cost's reads.
template <class Number, int Threads>
class shared_vertices {
 public:
  static constexpr int worst = parameter_count;
  static constexpr std::size_t bytes = sizeof(Number) * worst * parameter_count * Threads;  ///< of a block

  /// Sets all to 0: a thread without an item computes with them.
  __device__ explicit shared_vertices(Number* of_block) : own_(of_block + threadIdx.x) {
    for (int i = 0; i < worst * parameter_count; ++i) own_[i * Threads] = 0;
  }

  __device__ void begin(bool fresh) { order_ = fresh ? sorted : order_; }
  __device__ const Number& at(int v, int i) const { return v == worst ? worst_[i] : placed(v)[i * Threads]; }
  __device__ void set(bool which, int v, int i, Number value) {
    if (!which) return;
    (v == worst ? worst_[i] : placed(v)[i * Threads]) = value;
  }
  __device__ void move_worst(const bool (&before)[worst]) {
    if (!before[worst - 1]) return;
    int to = worst;
    VOXHERD_UNROLL
    for (int v = 0; v < worst; ++v) to -= before[v] ? 1 : 0;
    swap_worst(worst - 1);
    const unsigned swapped = order_ >> bits * (worst - 1), kept = order_ & first_places(to);
    const unsigned behind = (order_ ^ kept) & first_places(worst - 1);
    order_ = kept | swapped << bits * to | behind << bits;
  }
  __device__ void reverse(bool which, int first) {
    if (!which || first == worst) return;
    swap_worst(first);
    unsigned reversed = order_ & first_places(first + 1);
    for (int v = first + 1; v < worst; ++v) reversed |= place(v) << bits * (first + worst - v);
    order_ = reversed;
  }

 private:
  static constexpr int bits = 3;
  static constexpr unsigned sorted = 0 | 1 << bits | 2 << 2 * bits | 3 << 3 * bits | 4 << 4 * bits;
  static_assert(worst == 5);

  __device__ static unsigned first_places(int count) { return (1u << bits * count) - 1; }
  __device__ unsigned place(int v) const { return order_ >> bits * v & 7u; }
  __device__ Number* placed(int v) const { return own_ + place(v) * (parameter_count * Threads); }
  __device__ void swap_worst(int v) {
    Number* const other = placed(v);
    VOXHERD_UNROLL
    for (int i = 0; i < parameter_count; ++i) {
      const Number x = other[i * Threads];
      other[i * Threads] = worst_[i];
      worst_[i] = x;
    }
  }

  Number* own_;
  Number worst_[parameter_count] = {};
  unsigned order_ = sorted;  ///< the places of the vertices but the worst, the best first
};

}  // namespace voxherd::perfusion
