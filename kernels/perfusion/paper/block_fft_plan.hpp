#pragma once

#include <vector>

#include "kernels/portable/function.hpp"

/// Wang & Cao's Block-FFT (Phys Med Biol 57:5601, 2012): a series of q p frames, zero-padded to 2 q p, is a table of
/// 2q rows and p columns, frame i = p i1 + i2 in row i1 and column i2, wave number k = 2q k2 + k1.
namespace voxherd::perfusion {

/// p is a power of two, q small; q p frames after padding.
struct block_fft_shape {
  int q, p;
  constexpr int frames() const { return q * p; }
  constexpr int rows() const { return q + 1; }  ///< k1 = 0..q: the others are their conjugates
  constexpr bool operator==(const block_fft_shape&) const = default;
};

/// The shapes that have kernels, by number of frames: VOXHERD_BLOCK_FFT_SHAPES(X) calls X(q, p) for each.
// clang-format off
#define VOXHERD_BLOCK_FFT_SHAPES(X)                                                       \
  X(2, 16) X(3, 16) X(2, 32) X(5, 16) X(3, 32) X(7, 16) X(2, 64) X(5, 32) X(3, 64)        \
  X(7, 32) X(4, 64) X(5, 64) X(6, 64) X(7, 64) X(8, 64) X(5, 128) X(6, 128) X(7, 128) X(8, 128)
// clang-format on

inline constexpr int max_block_fft_frames = 1024;

/// The smallest table with room for so many frames: 32 = 2 x 16, 48 = 3 x 16, 64 = 2 x 32, 128 = 2 x 64, 256 = 4 x 64,
/// 320 = 5 x 64, 448 = 7 x 64 as in the paper; 75 frames take 80 = 5 x 16. Throws std::invalid_argument above
/// max_block_fft_frames.
block_fft_shape block_fft_shape_of(int frames);

/// A complex number; one per lane if Number is a SIMD register.
template <class Number>
struct complex_number {
  Number re, im;
};
/// Aligned, so that one instruction loads or stores its 16 bytes.
template <>
struct alignas(16) complex_number<double> {
  double re, im;
};

/// Threads of a team read neighbouring numbers of these tables. W_n = exp(-2 pi i / n).
struct block_fft_tables {
  const complex_number<double>* column;  ///< [k1][i1]: W_2q^(i1 k1)
  const complex_number<double>* twist;   ///< [k1][i2]: W_2qp^(i2 k1)
  const complex_number<double>* inner;   ///< [a][d]: W_p^(a d), p = a_count d_count (row_split)
  const complex_number<double>* pole;    ///< [k1][c][d]: 1 - cos, sin of 2 pi k / 2qp, k = 2q (d + d_count c) + k1
};

/// How a row's FFT is done in two steps of radix-2 stages that stay in a thread's registers: i2 = a + a_count b, then
/// k2 = d + d_count c, where b and d have d_count values, a and c have a_count.
struct row_split {
  int a_count, d_count;
};
VOXHERD_FUNCTION constexpr row_split row_split_of(int p) {
  return p == 16 ? row_split{4, 4} : p == 32 ? row_split{4, 8} : p == 64 ? row_split{8, 8} : row_split{8, 16};
}

/// The tables in host memory.
class block_fft_plan {
 public:
  explicit block_fft_plan(block_fft_shape shape);
  block_fft_shape shape() const { return shape_; }
  block_fft_tables view() const { return view_of(numbers_.data()); }
  /// The same numbers in another memory, copied there in the order of numbers().
  block_fft_tables view_of(const complex_number<double>* numbers) const;
  const std::vector<complex_number<double>>& numbers() const { return numbers_; }

 private:
  block_fft_shape shape_;
  std::vector<complex_number<double>> numbers_;  ///< column, twist, inner, pole
};

}  // namespace voxherd::perfusion
