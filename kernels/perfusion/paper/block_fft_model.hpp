#pragma once

#include <array>
#include <cmath>

#include "kernels/perfusion/fed_inputs.hpp"
#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/paper/block_fft_plan.hpp"
#include "kernels/perfusion/phi.hpp"

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

/// Convolution with an exponential, C_i = sum_{j <= i} E^(i - j) x_j over Q P frames, E = exp(-rate T), by the
/// Block-FFT: forward, times the analytic transform of the truncated exponential on twice the points,
///   H_k = (1 - (-1)^k E^(QP)) / (1 - E W^k),  W = exp(-2 pi i / 2QP)
/// (the paper's print lacks the T of E, the k of W, and a factor T, which is in x_j = T f_j here), and back. All by one
/// team, in its shared memory.
///
/// It differs from the paper's program in the division of work, not in the numbers: a thread has as many cells of the
/// table as one of a row's two register FFTs (4, 8 or 16) instead of one, so that log2 P radix-2 stages need one
/// exchange through shared memory instead of log2 P. H is applied between the last forward stage and the first backward
/// stage, while the spectrum is in registers. Rows 0 and Q are treated like the others, as in the paper.
///
/// A team has share(count, work), which calls work(i) for i in [0, count), and sync().
template <class Number, int Q, int P>
class block_fft {
 public:
  static constexpr block_fft_shape shape{Q, P};
  static constexpr int frames = Q * P, rows = Q + 1;
  static constexpr int a_count = row_split_of(P).a_count, d_count = row_split_of(P).d_count;
  static_assert(a_count * d_count == P);
  /// Distance of rows, in units of 16 bytes. Eight threads that read or write together use eight different banks: a
  /// column of the row's a x d table is one unit longer than a, and rows of a = 4 start four banks apart.
  static constexpr int row_places = (a_count + 1) * d_count + (a_count == 4 && d_count % 8 == 0 ? 4 : 0);

  /// Shared memory of the team.
  struct memory {
    complex_number<Number> table[rows * row_places];
    Number series[frames];  ///< x
    Number lost[2];         ///< 1 - E; 1 - E^(QP)
  };

  VOXHERD_FUNCTION explicit block_fft(const block_fft_tables& t) : tables_(t) {}

  /// 1 - e^-x, without cancellation at small x.
  VOXHERD_FUNCTION static Number lost_in(Number x) {
    if constexpr (lane::lane_traits<Number>::count == 1)
      return -::expm1(-x);
    else
      return x * phi(x).one;
  }

  /// Calls write(i, C_i) for every i < Q P, each by one thread. `m` holds the series and what is lost, and the team is
  /// in step (sync()); the series may be overwritten as soon as this returns, the rest after another sync().
  template <class Team, class Write>
  VOXHERD_FUNCTION void convolve(const Team& team, memory& m, const Write& write) const {
    team.share(rows * a_count, [&](int item) { columns_and_first_half(m, item / a_count, item % a_count); });
    team.sync();
    team.share(rows * d_count, [&](int item) { spectrum(m, item / d_count, item % d_count); });
    team.sync();
    team.share(rows * a_count, [&](int item) { second_half_back(m, item / a_count, item % a_count); });
    team.sync();
    team.share(P, [&](int i2) { columns_back(m, i2, write); });
  }

 private:
  static constexpr double backward = 0.5 / frames;  ///< the factor of the transform back

  VOXHERD_FUNCTION static constexpr int place(int k1, int a, int d) { return k1 * row_places + d * (a_count + 1) + a; }

  /// Column DFTs of this thread's columns i2 = a + a_count b for row k1 (rows Q.. of the input are zero), twiddles
  /// W_2QP^(i2 k1), and the first register FFT of the row: over b.
  VOXHERD_FUNCTION void columns_and_first_half(memory& m, int k1, int a) const {
    complex_number<Number> z[d_count];
    VOXHERD_UNROLL
    for (int b = 0; b < d_count; ++b) z[b] = {m.series[a + a_count * b], Number(0)};
    VOXHERD_UNROLL
    for (int i1 = 1; i1 < Q; ++i1) {
      const complex_number<double> w = tables_.column[k1 * Q + i1];
      VOXHERD_UNROLL
      for (int b = 0; b < d_count; ++b) {
        const Number f = m.series[P * i1 + a + a_count * b];
        z[b] = {z[b].re + f * w.re, z[b].im + f * w.im};
      }
    }
    VOXHERD_UNROLL
    for (int b = 0; b < d_count; ++b) z[b] = times<false>(z[b], tables_.twist[k1 * P + a + a_count * b]);
    register_fft<false>(z);
    VOXHERD_UNROLL
    for (int d = 0; d < d_count; ++d) m.table[place(k1, a, d)] = z[reversed_bits(d, d_count)];
  }

  /// The second register FFT of row k1, over a, H at k = 2Q (d + d_count c) + k1, and the same FFT back.
  VOXHERD_FUNCTION void spectrum(memory& m, int k1, int d) const {
    complex_number<Number> z[a_count];
    VOXHERD_UNROLL
    for (int a = 0; a < a_count; ++a) z[a] = times<false>(m.table[place(k1, a, d)], tables_.inner[a * d_count + d]);
    register_fft<false>(z);
    const Number lost = m.lost[0], all_lost = m.lost[1];
    const Number numerator = backward * (k1 % 2 == 0 ? all_lost : 2.0 - all_lost);
    complex_number<Number> back[a_count];
    VOXHERD_UNROLL
    for (int c = 0; c < a_count; ++c)
      back[c] = times<false>(z[reversed_bits(c, a_count)], transfer(lost, numerator, k1, c, d));
    register_fft<true>(back);
    VOXHERD_UNROLL
    for (int a = 0; a < a_count; ++a)
      m.table[place(k1, a, d)] = times<true>(back[reversed_bits(a, a_count)], tables_.inner[a * d_count + d]);
  }

  /// H_k times `backward`. 1 - E W^k from 1 - E and 1 - cos, without cancellation at small rate T.
  VOXHERD_FUNCTION complex_number<Number> transfer(Number lost, Number numerator, int k1, int c, int d) const {
    const complex_number<double> pole = tables_.pole[(k1 * a_count + c) * d_count + d];
    const Number kept = 1.0 - lost, re = lost + kept * pole.re, im = kept * pole.im, size = re * re + im * im;
    const Number share = numerator * invert(size);
    complex_number<Number> h{share * re, -(share * im)};
    // A rate of 0 leaves H_0 = Q P
    if (c == 0) h.re = lane::select(size == 0.0, Number(0.5), h.re), h.im = lane::select(size == 0.0, Number(0), h.im);
    return h;
  }

  /// The last register FFT of the row back, over d, and the twiddles.
  VOXHERD_FUNCTION void second_half_back(memory& m, int k1, int a) const {
    complex_number<Number> z[d_count];
    VOXHERD_UNROLL
    for (int d = 0; d < d_count; ++d) z[d] = m.table[place(k1, a, d)];
    register_fft<true>(z);
    VOXHERD_UNROLL
    for (int b = 0; b < d_count; ++b)
      m.table[place(k1, a, b)] = times<true>(z[reversed_bits(b, d_count)], tables_.twist[k1 * P + a + a_count * b]);
  }

  /// Column i2 back: real, as rows k1 and 2Q - k1 are conjugates; of it the first Q rows.
  template <class Write>
  VOXHERD_FUNCTION void columns_back(const memory& m, int i2, const Write& write) const {
    constexpr circle<2 * Q> roots;
    const int a = i2 % a_count, b = i2 / a_count;
    Number sum[Q];
    const Number first = m.table[place(0, a, b)].re, last = m.table[place(Q, a, b)].re;
    VOXHERD_UNROLL
    for (int i1 = 0; i1 < Q; ++i1) sum[i1] = i1 % 2 == 0 ? first + last : first - last;
    VOXHERD_UNROLL
    for (int k1 = 1; k1 < Q; ++k1) {
      const complex_number<Number> z = m.table[place(k1, a, b)];
      VOXHERD_UNROLL
      for (int i1 = 0; i1 < Q; ++i1)
        sum[i1] += z.re * (2 * roots.cosine[i1 * k1 % (2 * Q)]) - z.im * (2 * roots.sine[i1 * k1 % (2 * Q)]);
    }
    VOXHERD_UNROLL
    for (int i1 = 0; i1 < Q; ++i1) write(P * i1 + i2, sum[i1]);
  }

  block_fft_tables tables_;
};

/// A washout model of two inputs on even frames by the Block-FFT, in either discretisation (see taps.hpp): one voxel
/// per team.
template <class Number, int Q, int P, discretisation_kind Kind>
class block_fft_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  using tissue = washout<2>;
  using fft = block_fft<Number, Q, P>;
  using memory = typename fft::memory;  ///< shared by the team; no need to prepare it

  VOXHERD_FUNCTION block_fft_model(const curves_view<scalar>& view, const block_fft_tables& tables)
      : view_(view), fft_(tables) {}

  /// The cost as model.hpp says, the same bits for all threads of the team, which all call it.
  template <class Team>
  VOXHERD_FUNCTION Number cost(const Team& team, memory& m, const Number (&p)[tissue::count], voxel_samples y) const {
    Number sum(scalar(0));
    curve(team, m, p, [&](int i, Number c) {
      if (view_.counted != view_.frames && view_.counts[i] == 0) return;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - c;
      sum += rest * rest;
    });
    return team.sum(sum);
  }

  /// Calls write(i, C_i) for all frames, each by one thread of the team.
  template <class Team, class Write>
  VOXHERD_FUNCTION void curve(const Team& team, memory& m, const Number (&p)[tissue::count], const Write& write) const {
    feed(team, m, p);
    team.sync();
    fft_.convolve(team, m, [&](int i, Number c) {
      if (i < view_.frames) write(i, c);
    });
    team.sync();
  }

 private:
  template <class Team>
  VOXHERD_FUNCTION void feed(const Team& team, memory& m, const Number (&p)[tissue::count]) const {
    const fed_inputs<Number, Kind> fed(view_, p);
    const Number x = p[tissue::rate] * view_.spacing_s;
    team.share(2, [&](int i) { m.lost[i] = fft::lost_in(i == 0 ? x : scalar(fft::frames) * x); });
    const auto put = [&](int i, const Number& value) {
      m.series[i] = i == 0 ? value + before_the_first(fed, x) : value;
    };
    if constexpr (lane::lane_traits<Number>::count > 1) {  // the thread is the complete team
      fed.each(0, view_.frames, put);
      for (int i = view_.frames; i < fft::frames; ++i) m.series[i] = Number(scalar(0));
    } else {
      team.share(fft::frames, [&](int i) { put(i, i < view_.frames ? fed(i) : Number(scalar(0))); });
    }
  }

  /// The rest at frame 0 of earlier inflow.
  VOXHERD_FUNCTION static Number before_the_first(const fed_inputs<Number, Kind>& fed, Number x) {
    Number c(scalar(0));
    if (fed.first() == 0) return c;
    const Number e = decay(x);
    for (int j = fed.first(); j < 0; ++j) c = e * (c + fed(j));
    return c;
  }

  curves_view<scalar> view_;
  fft fft_;
};

/// One CPU thread as the team of block_fft_model.hpp: does all work itself. The same interface as cuda_voxel_team.
struct thread_team {
  /// Calls work(i) for i in [0, count), divided among the team.
  template <class Work>
  void share(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  /// Sum over the team's threads; all of them get it.
  template <class Number>
  Number sum(const Number& value) const {
    return value;
  }
  /// Orders what threads wrote to shared memory before what others read from it.
  void sync() const {}
};

}  // namespace voxherd::perfusion
