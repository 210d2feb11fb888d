#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"

/// A call on a GPU: inlined, what is rare would take registers from all streamlines.
#if defined(__CUDACC__)
#define VOXHERD_RARE_CALL __noinline__
#else
#define VOXHERD_RARE_CALL
#endif

namespace voxherd::track {

/// A sum of doubles without rounding, as components that do not overlap (Shewchuk 1997, Discrete Comput Geom 18:305,
/// grow-expansion).
class exact_sum {
 public:
  static constexpr int max_terms = 24;

  VOXHERD_FUNCTION void add(double term) {
    for (int i = 0; i < used_; ++i) {
      const double sum = term + parts_[i], virtual_part = sum - term;
      parts_[i] = (term - (sum - virtual_part)) + (parts_[i] - virtual_part);
      term = sum;
    }
    parts_[used_++] = term;
  }

  VOXHERD_FUNCTION int sign() const {
    for (int i = used_ - 1; i >= 0; --i)
      if (parts_[i] != 0) return parts_[i] > 0 ? 1 : -1;
    return 0;
  }

 private:
  double parts_[max_terms] = {};
  int used_ = 0;
};

/// A product that a compiler must not join with a sum.
VOXHERD_FUNCTION inline double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// The sign of the determinant of three vectors, exact.
VOXHERD_FUNCTION VOXHERD_RARE_CALL inline int exact_determinant_sign(const double (&u)[3], const double (&v)[3],
                                                                     const double (&w)[3]) {
  exact_sum sum;
  for (int i = 0; i < 3; ++i)
    for (int turn = 0; turn < 2; ++turn) {
      const int j = (i + 1 + turn) % 3, k = (i + 2 - turn) % 3;
      const double factor = turn == 0 ? u[i] : -u[i], high = rounded_product(v[j], w[k]), low = fma(v[j], w[k], -high);
      for (const double part : {low, high}) {
        const double product = rounded_product(factor, part);
        sum.add(fma(factor, part, -product));
        sum.add(product);
      }
    }
  return sum.sign();
}

/// The sign of the volume spanned by the vectors from `a` to three points, exact where their differences are doubles,
/// as for coordinates of one image. Double precision is enough except close to zero.
VOXHERD_FUNCTION inline int volume_sign(const float* a, const float* b, const float* c, const float* d) {
  double u[3], v[3], w[3];
  for (int i = 0; i < 3; ++i) {
    const auto origin = static_cast<double>(a[i]);
    u[i] = static_cast<double>(b[i]) - origin;
    v[i] = static_cast<double>(c[i]) - origin;
    w[i] = static_cast<double>(d[i]) - origin;
  }
  double sum = 0, largest = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double one = v[j] * w[k], other = v[k] * w[j];
    sum = fma(u[i], one - other, sum);
    largest = fma(fabs(u[i]), fabs(one) + fabs(other), largest);
  }
  const double error = 1e-15 * largest;  // more than the bound of Shewchuk's orient3d
  if (sum > error) return 1;
  if (sum < -error) return -1;
  return largest == 0 ? 0 : exact_determinant_sign(u, v, w);
}

/// The volume spanned by the vectors from `a` to three points, with the same rounding on every device.
VOXHERD_FUNCTION inline double volume(const float* a, const float* b, const float* c, const float* d) {
  const auto along = [a](const float* p, int i) { return static_cast<double>(p[i]) - static_cast<double>(a[i]); };
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double area = rounded_product(along(c, j), along(d, k)) - rounded_product(along(c, k), along(d, j));
    sum = fma(along(b, i), area, sum);
  }
  return sum;
}

}  // namespace voxherd::track
