#pragma once

#include <array>

#include "kernels/perfusion/paper/block_fft_plan.hpp"

/// FFTs of 4, 8 or 16 numbers in a thread's registers, for double or SIMD registers.
namespace voxherd::perfusion {

template <class Number>
VOXHERD_FUNCTION inline complex_number<Number> operator+(const complex_number<Number>& a,
                                                         const complex_number<Number>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Number>
VOXHERD_FUNCTION inline complex_number<Number> operator-(const complex_number<Number>& a,
                                                         const complex_number<Number>& b) {
  return {a.re - b.re, a.im - b.im};
}

/// z w, or z times the conjugate of w.
template <bool Conjugate, class Number, class Other>
VOXHERD_FUNCTION inline complex_number<Number> times(const complex_number<Number>& z, const complex_number<Other>& w) {
  if constexpr (Conjugate) return {z.re * w.re + z.im * w.im, z.im * w.re - z.re * w.im};
  return {z.re * w.re - z.im * w.im, z.im * w.re + z.re * w.im};
}

/// 1 / x for normal x > 0. On a GPU without the branches of a division: from 20 bits by two of Newton's steps.
template <class Number>
VOXHERD_FUNCTION inline Number invert(const Number& x) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(y, fma(-x, y, 1.0), y);
  return fma(y, fma(-x, y, 1.0), y);
#else
  return 1.0 / x;
#endif
}

/// cos(2 pi j / N) and sin(2 pi j / N), known to the compiler: Taylor's series within an eighth of the circle.
template <int N>
struct circle {
  double cosine[N], sine[N];

  VOXHERD_FUNCTION constexpr circle() : cosine{}, sine{} {
    for (int j = 0; j < N; ++j) {
      const int quarter = (4 * j + N / 2) / N;  // the nearest multiple of a right angle
      const double x = 6.283185307179586477 * (4 * j - quarter * N) / (4.0 * N);
      double c = 1, s = 1;
      for (int n = 24; n > 0; n -= 2) {
        c = 1 - x * x / (n * (n - 1)) * c;
        s = 1 - x * x / (n * (n + 1)) * s;
      }
      s *= x;
      const double turned_c[] = {c, -s, -c, s, c}, turned_s[] = {s, c, -s, -c, s};
      cosine[j] = turned_c[quarter], sine[j] = turned_s[quarter];
    }
  }
};

/// One radix-2 stage, decimation in frequency, on parts of `Size`; then the following stages. Wave number k is stored
/// at the index whose bits are k's in reverse. Inverse: exponents of the other sign, no factor.
template <bool Inverse, int Size, class Number, int Count>
VOXHERD_FUNCTION inline void radix2_stages(complex_number<Number> (&z)[Count]) {
  if constexpr (Size > 1) {
    constexpr circle<Size> roots;
    constexpr int half = Size / 2;
    VOXHERD_UNROLL
    for (int first = 0; first < Count; first += Size) {
      VOXHERD_UNROLL
      for (int j = 0; j < half; ++j) {
        const complex_number<Number> upper = z[first + j], lower = z[first + j + half], less = upper - lower;
        z[first + j] = upper + lower;
        complex_number<Number>& turned = z[first + j + half];
        if (j == 0)
          turned = less;
        else if (2 * j == half)
          turned = Inverse ? complex_number<Number>{-less.im, less.re} : complex_number<Number>{less.im, -less.re};
        else if (4 * j == half)
          turned = Inverse ? complex_number<Number>{(less.re - less.im) * roots.cosine[j],
                                                    (less.im + less.re) * roots.cosine[j]}
                           : complex_number<Number>{(less.re + less.im) * roots.cosine[j],
                                                    (less.im - less.re) * roots.cosine[j]};
        else
          turned = times<!Inverse>(less, complex_number<double>{roots.cosine[j], roots.sine[j]});
      }
    }
    radix2_stages<Inverse, half>(z);
  }
}

VOXHERD_FUNCTION constexpr int reversed_bits(int i, int count) {
  int reversed = 0;
  for (; count > 1; count /= 2, i /= 2) reversed = 2 * reversed + i % 2;
  return reversed;
}

/// In place: z becomes sum_n z_n exp(-+2 pi i n k / Count), wave number k at index reversed_bits(k, Count).
template <bool Inverse, class Number, int Count>
VOXHERD_FUNCTION inline void register_fft(complex_number<Number> (&z)[Count]) {
  radix2_stages<Inverse, Count>(z);
}

}  // namespace voxherd::perfusion
