#include "kernels/perfusion/paper/block_fft_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace voxherd::perfusion {

namespace {

/// 2 pi j / n for j taken modulo n: exact arguments for the sine's and cosine's symmetries.
double angle(int j, int n) { return 2 * std::numbers::pi * (j % n) / n; }

complex_number<double> root(int j, int n) { return {std::cos(angle(j, n)), -std::sin(angle(j, n))}; }

}  // namespace

block_fft_shape block_fft_shape_of(int frames) {
#define VOXHERD_SHAPE(q, p) block_fft_shape{q, p},
  for (const block_fft_shape shape : {VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)})
    if (shape.frames() >= frames) return shape;
#undef VOXHERD_SHAPE
  throw std::invalid_argument("the Block-FFT has tables for up to " + std::to_string(max_block_fft_frames) +
                              " frames, not for " + std::to_string(frames) +
                              "; --convolution recursion takes any number");
}

block_fft_plan::block_fft_plan(block_fft_shape shape) : shape_(shape) {
  const auto [q, p] = shape;
  const auto [a_count, d_count] = row_split_of(p);
  const int length = 2 * shape.frames();
  for (int k1 = 0; k1 <= q; ++k1)
    for (int i1 = 0; i1 < q; ++i1) numbers_.push_back(root(i1 * k1, 2 * q));
  for (int k1 = 0; k1 <= q; ++k1)
    for (int i2 = 0; i2 < p; ++i2) numbers_.push_back(root(i2 * k1, length));
  for (int a = 0; a < a_count; ++a)
    for (int d = 0; d < d_count; ++d) numbers_.push_back(root(a * d, p));
  for (int k1 = 0; k1 <= q; ++k1)
    for (int c = 0; c < a_count; ++c)
      for (int d = 0; d < d_count; ++d) {
        const double x = angle(2 * q * (d + d_count * c) + k1, length), half = std::sin(x / 2);
        numbers_.push_back({2 * half * half, std::sin(x)});
      }
}

block_fft_tables block_fft_plan::view_of(const complex_number<double>* numbers) const {
  const int table = shape_.rows() * shape_.p;
  const complex_number<double>* twist = numbers + shape_.rows() * shape_.q;
  return {numbers, twist, twist + table, twist + table + shape_.p};
}

}  // namespace voxherd::perfusion
