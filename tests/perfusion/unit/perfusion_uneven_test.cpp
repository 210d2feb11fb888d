#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/uneven_model.hpp"

namespace voxherd::perfusion {
namespace {

using parameters = double[dual_parameters];

/// A series with a view of its times, even if they are evenly spaced.
template <class Scalar>
struct uneven_case {
  time_course course;
  curves_table<Scalar> table;
  std::vector<Scalar> time_s;

  explicit uneven_case(const time_course& t) : course(t), table(t) {
    for (const double s : t.time_s) time_s.push_back(static_cast<Scalar>(s - t.time_s.front()));
  }
  curves_view<Scalar> view() const {
    auto v = table.view();
    v.time_s = time_s.data();
    return v;
  }
};

time_course random_times(std::mt19937_64& draw, int frames, bool even = false) {
  std::uniform_real_distribution<> uniform(0, 1);
  time_course t;
  double now = 7;
  for (int i = 0; i < frames; ++i) {
    t.time_s.push_back(now);
    now += even ? 1.7 : std::exp(4 * uniform(draw) - 2);
    t.arterial.push_back(5 * uniform(draw));
    t.portal.push_back(2 * uniform(draw));
    t.counts.push_back(1);
  }
  return t;
}

/// The input as defined by the settings: linear between frames, and before and after them.
double input(const time_course& t, const std::vector<double>& curve, double at) {
  const auto& time = t.time_s;
  if (at >= time.back()) return curve.back();
  const double first = time[1] - time[0];
  if (at < time[0]) return at < time[0] - first ? 0 : curve[0] * (1 + (at - time[0]) / first);
  std::size_t j = 0;
  while (time[j + 1] <= at) ++j;
  return curve[j] + (curve[j + 1] - curve[j]) * (at - time[j]) / (time[j + 1] - time[j]);
}

/// Five-point Gauss quadrature on pieces that are short enough for the exponential to be almost linear.
double integral(const time_course& t, const std::vector<double>& curve, double k, double from, double to,
                double until) {
  constexpr double place[5] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640, -0.9061798459386640};
  constexpr double weight[5] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891,
                                0.2369268850561891};
  const int pieces = 1 + static_cast<int>(8 * k * (to - from));
  const double half = (to - from) / pieces / 2;
  double sum = 0;
  for (int piece = 0; piece < pieces; ++piece)
    for (int g = 0; g < 5; ++g) {
      const double s = from + half * (2 * piece + 1 + place[g]);
      sum += half * weight[g] * input(t, curve, s) * std::exp(-k * (until - s));
    }
  return sum;
}

/// G at a time, segment by segment, from its definition.
double convolved_at(const time_course& t, const std::vector<double>& curve, double k, double until) {
  std::vector<double> node = {2 * t.time_s[0] - t.time_s[1]};
  node.insert(node.end(), t.time_s.begin(), t.time_s.end());
  node.push_back(1e30);
  double sum = 0;
  for (std::size_t j = 0; j + 1 < node.size() && node[j] < until; ++j)
    sum += integral(t, curve, k, node[j], std::min(node[j + 1], until), until);
  return sum;
}

double slow_model(const time_course& t, const parameters& p, std::size_t frame) {
  return p[ka] * convolved_at(t, t.arterial, p[kl], t.time_s[frame] - p[tau_a]) +
         p[kp] * convolved_at(t, t.portal, p[kl], t.time_s[frame] - p[tau_p]);
}

template <class Model, class Number>
std::vector<Number> curve_of(const Model& model, const Number (&p)[dual_parameters], std::size_t frames) {
  std::vector<Number> c(frames);
  model.curve(p, [&](int i, Number x) { c[static_cast<std::size_t>(i)] = x; });
  return c;
}

void draw_parameters(std::mt19937_64& draw, double length_s, parameters& p) {
  std::uniform_real_distribution<> uniform(0, 1);
  p[kl] = std::pow(10.0, -4 + 4.5 * uniform(draw));
  p[ka] = 0.2 * uniform(draw);
  p[kp] = 0.2 * uniform(draw);
  for (const int tau : {tau_a, tau_p}) p[tau] = length_s * (1.6 * uniform(draw) - 0.6);
}

TEST(PerfusionUneven, IsTheIntegralOfItsDefinition) {
  std::mt19937_64 draw(1);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const uneven_case<double> c(random_times(draw, 2 + repeat % 13));
    const double length = c.course.time_s.back() - c.course.time_s.front();
    parameters p;
    draw_parameters(draw, length, p);
    if (repeat % 8 == 0) p[tau_a] = p[tau_p] = 0;
    if (repeat % 8 == 1) p[kl] = 0;
    const auto fast = curve_of(uneven_model<dual_model, double>(c.view()), p, c.course.frames());
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const double slow = slow_model(c.course, p, i);
      EXPECT_NEAR(fast[i], slow, 1e-12 * (1 + std::fabs(slow))) << repeat << " frame " << i << " kl " << p[kl];
    }
  }
}

TEST(PerfusionUneven, IsTheRecursionOnEvenFrames) {
  std::mt19937_64 draw(2);
  const uneven_case<double> c(random_times(draw, 20, true));
  ASSERT_GT(c.view().spacing_s, 0);
  for (int repeat = 0; repeat < 40; ++repeat) {
    parameters p;
    draw_parameters(draw, 19 * 1.7, p);
    if (repeat % 4 == 0) p[tau_a] = 1.7 * (repeat % 5 - 2);
    const auto uneven = curve_of(uneven_model<dual_model, double>(c.view()), p, 20);
    const auto even = curve_of(recursion_model<dual_model, double, discretisation_kind::exact>(c.table.view()), p, 20);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(uneven[i], even[i], 1e-12 * (1 + even[i])) << repeat << " " << i;
  }
}

/// J by central differences of the curve.
std::vector<std::vector<double>> slow_jacobian(const uneven_model<dual_model, double>& model, const parameters& p,
                                               std::size_t frames) {
  std::vector<std::vector<double>> columns;
  for (int a = 0; a < dual_parameters; ++a) {
    const double step = a < tau_a ? 1e-5 * std::max(p[a], 1e-2) : 1e-5;
    parameters up, down;
    std::copy(p, p + dual_parameters, up);
    std::copy(p, p + dual_parameters, down);
    up[a] += step;
    down[a] -= step;
    auto column = curve_of(model, up, frames);
    const auto less = curve_of(model, down, frames);
    for (std::size_t i = 0; i < frames; ++i) column[i] = (column[i] - less[i]) / (up[a] - down[a]);
    columns.push_back(column);
  }
  return columns;
}

TEST(PerfusionUneven, HasTheEquationsOfItsCurvesDifferences) {
  std::mt19937_64 draw(3);
  for (int repeat = 0; repeat < 40; ++repeat) {
    auto course = random_times(draw, 12);
    course.counts[2] = course.counts[7] = 0;
    const uneven_case<double> c(course);
    parameters p;
    draw_parameters(draw, 10, p);
    const uneven_model<dual_model, double> model(c.view());
    std::vector<float> y(12);
    for (float& x : y) x = static_cast<float>(std::uniform_real_distribution<>(0, 3)(draw));
    y[2] = std::numeric_limits<float>::quiet_NaN();
    const auto fitted = curve_of(model, p, 12);
    const auto J = slow_jacobian(model, p, 12);
    double cost = 0, gradient[dual_parameters] = {}, hessian[packed_size(dual_parameters)] = {};
    double length[dual_parameters] = {}, rest_squares = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      if (course.counts[i] == 0) continue;
      const double rest = static_cast<double>(y[i]) - fitted[i];
      cost += rest * rest;
      rest_squares += rest * rest;
      for (int a = 0; a < dual_parameters; ++a) {
        const auto A = static_cast<std::size_t>(a);
        gradient[a] += J[A][i] * rest;
        length[a] += J[A][i] * J[A][i];
        for (int b = 0; b <= a; ++b) hessian[packed_index(a, b)] += J[A][i] * J[static_cast<std::size_t>(b)][i];
      }
    }
    normal_equations<dual_model, double> e;
    model.equations(p, {y.data(), 1}, e);
    EXPECT_NEAR(e.cost, cost, 1e-12 * cost);
    EXPECT_NEAR(model.cost(p, {y.data(), 1}), cost, 1e-12 * cost);
    // Differences of 1e-5 of a curve of 1e-15: 1e-10 from rounding, and from the jumps of the second derivative at
    // delays
    for (int a = 0; a < dual_parameters; ++a) {
      EXPECT_NEAR(e.gradient[a], gradient[a], 2e-6 * std::sqrt(length[a] * rest_squares) + 1e-9) << repeat << " " << a;
      for (int b = 0; b <= a; ++b)
        EXPECT_NEAR(e.hessian[packed_index(a, b)], hessian[packed_index(a, b)],
                    2e-6 * std::sqrt(length[a] * length[b]) + 1e-9)
            << repeat << " " << a << " " << b;
    }
  }
}

/// Different parameters in every lane, so that lanes pass nodes at different times.
template <class Lanes>
void expect_lanes_equal_single_numbers(double tolerance) {
  using scalar = typename Lanes::value_type;
  constexpr int lanes = static_cast<int>(Lanes::size());
  std::mt19937_64 draw(4);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const uneven_case<scalar> c(random_times(draw, 15));
    const uneven_case<double> truth(c.course);
    Lanes all[dual_parameters];
    double one[lanes][dual_parameters];
    for (int l = 0; l < lanes; ++l) {
      draw_parameters(draw, 40, one[l]);
      for (int a = 0; a < dual_parameters; ++a) lane::put(all[a], l, static_cast<scalar>(one[l][a]));
    }
    std::vector<float> y(15 * lanes);
    for (float& x : y) x = static_cast<float>(std::uniform_real_distribution<>(0, 3)(draw));
    const uneven_model<dual_model, Lanes> model(c.view());
    const uneven_model<dual_model, double> single(truth.view());
    const auto curves = curve_of(model, all, 15);
    normal_equations<dual_model, Lanes> e;
    model.equations(all, {y.data(), lanes}, e);
    for (int l = 0; l < lanes; ++l) {
      const auto curve = curve_of(single, one[l], 15);
      double most = 0;
      for (const double x : curve) most = std::max(most, std::fabs(x));
      for (std::size_t i = 0; i < 15; ++i)
        EXPECT_NEAR(static_cast<double>(lane::get(curves[i], l)), curve[i], tolerance * most) << l << " frame " << i;
      normal_equations<dual_model, double> s;
      single.equations(one[l], {y.data() + l, lanes}, s);
      EXPECT_NEAR(static_cast<double>(lane::get(e.cost, l)), s.cost, tolerance * 4 * s.cost);
      // A delay's column is a difference of two values up to the flow times the input, at most 5.
      double size[dual_parameters];
      for (int a = 0; a < dual_parameters; ++a) size[a] = std::sqrt(s.hessian[packed_index(a, a)]);
      size[tau_a] += std::sqrt(15.) * 5 * one[l][ka];
      size[tau_p] += std::sqrt(15.) * 5 * one[l][kp];
      for (int a = 0; a < dual_parameters; ++a)
        for (int b = 0; b <= a; ++b)
          EXPECT_NEAR(static_cast<double>(lane::get(e.hessian[packed_index(a, b)], l)), s.hessian[packed_index(a, b)],
                      4 * tolerance * size[a] * size[b])
              << l << " " << a << " " << b;
    }
  }
}

TEST(PerfusionUneven, EveryLaneOfDoublesHasTheResultOfASingleVoxel) {
  expect_lanes_equal_single_numbers<lane::double_lanes>(1e-12);
}

TEST(PerfusionUneven, EveryLaneOfFloatsHasTheResultOfASingleVoxel) {
  expect_lanes_equal_single_numbers<lane::float_lanes>(2e-5);
}

}  // namespace
}  // namespace voxherd::perfusion
