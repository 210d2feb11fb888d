#include "tests/geodesic/reference/geodesic_reference.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <random>

#include "tests/geodesic/reference/geodesic_fields.hpp"
#include "tests/geodesic/reference/geodesic_reading.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;

constexpr double pi = std::numbers::pi;

void expect_near(const vec3& a, const vec3& b, double tolerance) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "component " << i;
}

const mat3 oblate{{{1.0, 0.3, -0.2}, {0.3, 0.7, 0.1}, {-0.2, 0.1, 0.5}}};
const hyperbolic_field half_space(32);
const ball_field ball(50, {1, 2, 3});
const fish_eye_field fish_eye(20, 1.5, {3, -2, 1});
const helix_field shallow_helix(1, 0.2, 12, {2, 1, 0});

struct named_field {
  const char* name;
  const solved_field& field;
  vec3 place;
};
const constant_field constant(oblate);
const named_field solved[] = {{"constant", constant, {3, 4, 5}},
                              {"half space", half_space, {3, 4, 30}},
                              {"ball", ball, {11, -6, 9}},
                              {"fish-eye", fish_eye, {14, 5, -3}},
                              {"pullback", pullback, {20, 33, 41}}};

TEST(SmallMatrix, InverseByHand) {
  const mat3 a{{{2, 1, 0}, {0, 1, 0}, {0, 3, 4}}};
  EXPECT_EQ(determinant(a), 8);
  const mat3 b = inverse(a);
  expect_near(b[0], {0.5, -0.5, 0}, 1e-15);
  expect_near(b[1], {0, 1, 0}, 1e-15);
  expect_near(b[2], {0, -0.75, 0.25}, 1e-15);
}

TEST(GeodesicFields, DerivativesAreThoseOfTheTensors) {
  const auto check = [](const tensor_formula& f, const vec3& x) {
    const mat3_gradient dD = f.dD(x);
    for (std::size_t k = 0; k < 3; ++k) {
      vec3 e{};
      e[k] = 1e-4;
      const mat3 slope = 0.5e4 * (f.D(x + e) + -1 * f.D(x - e));
      for (std::size_t row = 0; row < 3; ++row) expect_near(dD[k][row], slope[row], 1e-8);
    }
  };
  for (const auto& [name, field, place] : solved) {
    SCOPED_TRACE(name);
    check(field, place);
  }
  check(shallow_helix, {7, 5, 4});
  check(scaled_formula(shallow_helix, 3), {7, 5, 4});
}

TEST(GeodesicFields, TensorsByHand) {
  expect_near(half_space.D({5, 6, 16})[2], {0, 0, 0.25}, 1e-15);
  // At a distance of half the radius n = 2 / (1 - 1/4) = 8/3.
  expect_near(ball.D({1 + 25, 2, 3})[0], {9.0 / 64, 0, 0}, 1e-15);
  // One radius out n = n0 / 2.
  expect_near(fish_eye.D({3, -2 + 20, 1})[1], {0, 1 / (0.75 * 0.75), 0}, 1e-13);
  // At the origin J has 6k below its first 1 and 5k below its second.
  const double k = 2 * pi / 64;
  const mat3 D = pullback.D({0, 0, 0});
  EXPECT_NEAR(D[0][0], 1, 1e-15);
  EXPECT_NEAR(D[0][1], -6 * k, 1e-15);
  EXPECT_NEAR(D[0][2], 30 * k * k, 1e-15);
  EXPECT_NEAR(D[1][1], 36 * k * k + 0.2, 1e-15);
  // At 3 to the right of the axis t = (0, 3, 12) / sqrt(153).
  EXPECT_NEAR(shallow_helix.D({5, 1, 7})[1][1], 0.2 + 0.8 * 9 / 153, 1e-15);
  EXPECT_NEAR(shallow_helix.D({5, 1, 7})[1][2], 0.8 * 36 / 153, 1e-15);
}

TEST(GeodesicFields, HyperbolicEndByTheFormulaOfTheSemicircle) {
  const double t0 = 0.4, z0 = 25, a = 32, s = 9;
  const double r = z0 / std::cos(t0), phi0 = std::acos(std::sin(t0));
  const double phi = 2 * std::atan(std::tan(phi0 / 2) * std::exp(s / a));
  const vec3 end = half_space.end({4, 7, z0}, {0.6 * std::cos(t0), 0.8 * std::cos(t0), std::sin(t0)}, r * (phi - phi0));
  const double along = r * (std::cos(phi0) - std::cos(phi));
  expect_near(end, {4 + 0.6 * along, 7 + 0.8 * along, r * std::sin(phi)}, 1e-12);
  EXPECT_NEAR(half_space.distance({4, 7, z0}, end), s, 1e-12);
  // Straight up: a ln(z / z0).
  expect_near(half_space.end({4, 7, 10}, {0, 0, 2}, 10), {4, 7, 20}, 1e-12);
  EXPECT_NEAR(half_space.distance({4, 7, 10}, {4, 7, 20}), 32 * std::log(2), 1e-12);
}

TEST(GeodesicFields, BallsRaysMeetItsSurfaceAtRightAngles) {
  const vec3 x0{11, -6, 9}, u0{0.3, 0.5, -0.4}, c{1, 2, 3};
  double low = 0, high = 150;  // the surface is between them
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (norm(ball.end(x0, u0, middle) - c) < 50 ? low : high) = middle;
  }
  const vec3 out = ball.end(x0, u0, low), way = unit(out - ball.end(x0, u0, low - 1e-5));
  EXPECT_NEAR(norm(out - c), 50, 1e-9);
  EXPECT_NEAR(dot(way, unit(out - c)), 1, 1e-8);
  // Through the centre: 2 R atanh(r / R).
  EXPECT_NEAR(ball.distance(c, {26, 2, 3}), 100 * std::atanh(0.5), 1e-12);
}

TEST(GeodesicFields, FishEyeRaysMeetAgainAtTheFocus) {
  const vec3 x0{14, 5, -3}, focus = fish_eye.focus(x0);
  EXPECT_NEAR(dot(unit(x0 - vec3{3, -2, 1}), unit(focus - vec3{3, -2, 1})), -1, 1e-12);
  EXPECT_NEAR(norm(x0 - vec3{3, -2, 1}) * norm(focus - vec3{3, -2, 1}), 400, 1e-10);
  EXPECT_NEAR(fish_eye.distance(x0, focus), pi * 1.5 * 20 / 2, 1e-6);
  for (const vec3& u : {vec3{1, 0, 0}, vec3{0.2, -1, 0.5}, vec3{-1, -0.8, 0.3}, vec3{-0.3, 0.1, -1}})
    expect_near(fish_eye.end(x0, u, fish_eye.length_to_focus(x0, u)), focus, 1e-9);
}

TEST(GeodesicFields, PullbackRaysAreStraightInPhi) {
  const vec3 x0{20, 33, 41}, u0{0.5, -0.6, 0.3};
  expect_near(pullback.phi_inverse(pullback.phi(x0)), x0, 1e-13);
  const vec3 y0 = pullback.phi(x0), w = pullback.J(x0) * u0;
  const vec3 end = pullback.end(x0, u0, 20), way = pullback.phi(end) - y0;
  EXPECT_NEAR(norm(cross(unit(way), unit(w))), 0, 1e-13);
  // The chords of 2,000 pieces add up to the length.
  double length = 0;
  for (int i = 0; i < 2000; ++i)
    length += norm(pullback.phi_inverse(y0 + (i + 1) / 2000.0 * way) - pullback.phi_inverse(y0 + i / 2000.0 * way));
  EXPECT_NEAR(length, 20, 1e-5);
}

TEST(GeodesicFields, MetricLengthOfTheCurveIsTheDistance) {
  for (const auto& [name, field, place] : solved) {
    SCOPED_TRACE(name);
    const vec3 u{0.5, -0.6, 0.3};
    double length = 0;
    const int n = 4000;
    for (int i = 0; i < n; ++i) {
      const vec3 from = field.end(place, u, 8.0 * i / n), to = field.end(place, u, 8.0 * (i + 1) / n);
      length += std::sqrt(form(to - from, inverse(field.D(0.5 * (from + to))), to - from));
    }
    EXPECT_NEAR(length, field.distance(place, field.end(place, u, 8)), 1e-6 * length);
  }
}

TEST(GeodesicFields, HelixRaysKeepTheInvariants) {
  const vec3 x0{9, 4, 3}, u0 = unit({-0.4, 0.7, 0.5});
  const vec3 v0 = 1 / std::sqrt(form(u0, inverse(shallow_helix.D(x0)), u0)) * u0;
  const auto before = shallow_helix.ray_invariants(x0, inverse(shallow_helix.D(x0)) * v0);
  const auto at = [&](double L) { return shallow_helix.end_of_metric_length(x0, u0, L); };
  const vec3 v = 0.5e4 * (at(15 + 1e-4) - at(15 - 1e-4));
  const auto after = shallow_helix.ray_invariants(at(15), inverse(shallow_helix.D(at(15))) * v);
  EXPECT_NEAR(before.energy, 1, 1e-12);
  EXPECT_NEAR(after.energy, 1, 1e-6);
  EXPECT_NEAR(after.p_theta, before.p_theta, 1e-6 * norm(x0));
  EXPECT_NEAR(after.p_z, before.p_z, 1e-6);
}

TEST(GeodesicFields, SamplesAreAtTheGridsPositions) {
  const sampling_grid grid{{3, 4, 5}, {{{2, 0.5, 0}, {0, 1.5, 0.2}, {0.1, 0, 3}}}, {10, 20, 30}};
  expect_near(grid.world({1, 2, 3}), {10 + 2 + 1, 20 + 3 + 0.6, 30 + 0.1 + 9}, 1e-13);
  expect_near(grid.voxel(grid.world({1, 2, 3})), {1, 2, 3}, 1e-13);
  const auto image = sampled(pullback, grid);
  ASSERT_EQ(image.tensor.size(), 6u * 60);
  const mat3 D = pullback.D(grid.world({2, 1, 4}));
  const float* t = &image.tensor[6 * ((4 * 4 + 1) * 3 + 2)];
  EXPECT_FLOAT_EQ(t[1], float(D[0][1]));
  EXPECT_FLOAT_EQ(t[3], float(D[1][1]));
  EXPECT_FLOAT_EQ(t[4], float(D[1][2]));
}

TEST(GeodesicFields, LogNoiseKeepsTensorsPositiveAndHasItsDeviation) {
  auto image = sampled(constant_field(identity3), {{20, 20, 20}, identity3, {}});
  add_log_noise(image, 0.3, 5);
  double trace_of_log = 0, square = 0;
  for (std::size_t i = 0; i < image.tensor.size(); i += 6) {
    const float* t = &image.tensor[i];
    const double d = determinant({{{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}}});
    ASSERT_GT(d, 0);
    trace_of_log += std::log(d), square += std::log(d) * std::log(d);
  }
  // ln det is the sum of three diagonal elements: mean 0, variance 3 sigma^2.
  EXPECT_NEAR(trace_of_log / 8000, 0, 4 * 0.3 * std::sqrt(3.0 / 8000));
  EXPECT_NEAR(square / 8000, 0.27, 0.27 * 4 * std::sqrt(2.0 / 8000));
}

TEST(GeodesicReading, SplineCoefficientsByHand) {
  // 4 c0 + 2 c1 = 0, c0 + 4 c1 + c2 = 6, 2 c1 + 4 c2 = 0: c1 = 2, c0 = c2 = -1.
  const auto c = tridiagonal_coefficients({0, 1, 0});
  EXPECT_NEAR(c[0], -1, 1e-15);
  EXPECT_NEAR(c[1], 2, 1e-15);
  EXPECT_NEAR(c[2], -1, 1e-15);
}

const sampling_grid tilted{{9, 10, 11}, {{{1.2, 0.3, 0}, {-0.2, 0.9, 0.1}, {0, 0.1, 1.5}}}, {3, 4, 30}};

TEST(GeodesicReading, ReturnsTheSamplesAtVoxelCentres) {
  const auto image = sampled(pullback, tilted);
  for (const auto how : {interpolation::trilinear, interpolation::bspline}) {
    const sampled_reader reader(image, how, inverse_derivatives::of_reading);
    for (const vec3& voxel : {vec3{0, 0, 0}, vec3{8, 9, 10}, vec3{3, 9, 4}}) {
      const mat3 D = reader.at(tilted.world(voxel)).D, exact = pullback.D(tilted.world(voxel));
      for (std::size_t row = 0; row < 3; ++row) expect_near(D[row], exact[row], 2e-7);
    }
  }
}

/// D linear along x, y and z.
class sloping final : public tensor_formula {
 public:
  mat3 D(const vec3& x) const override { return 5 * identity3 + x[0] * a + x[1] * b + x[2] * identity3; }
  mat3_gradient dD(const vec3&) const override { return {a, b, identity3}; }
  mat3 a{{{0.1, 0.2, 0}, {0.2, 0, 0}, {0, 0, 0}}}, b{{{0, 0, 0.1}, {0, 0.3, 0}, {0.1, 0, 0}}};
};

TEST(GeodesicReading, TrilinearIsExactForLinearFieldsOnObliqueGrids) {
  const sloping f;
  const sampled_reader reader(sampled(f, tilted), interpolation::trilinear, inverse_derivatives::of_reading);
  const vec3 x = tilted.world({3.3, 4.6, 7.9});
  const field_values v = reader.at(x);
  for (std::size_t row = 0; row < 3; ++row) {
    expect_near(v.D[row], f.D(x)[row], 1e-5);
    for (std::size_t k = 0; k < 3; ++k) expect_near(v.dD[k][row], f.dD(x)[k][row], 1e-5);
  }
}

TEST(GeodesicReading, DerivativesAreThoseOfTheInterpolation) {
  const auto image = sampled(pullback, tilted);
  for (const auto how : {interpolation::trilinear, interpolation::bspline}) {
    const sampled_reader reader(image, how, inverse_derivatives::of_reading);
    const vec3 x = tilted.world({3.3, 4.6, 7.9});
    for (std::size_t k = 0; k < 3; ++k) {
      vec3 e{};
      e[k] = 1e-5;
      const mat3 D = 0.5e5 * (reader.at(x + e).D + -1 * reader.at(x - e).D);
      const mat3 G = 0.5e5 * (inverse(reader.at(x + e).D) + -1 * inverse(reader.at(x - e).D));
      for (std::size_t row = 0; row < 3; ++row) {
        expect_near(reader.at(x).dD[k][row], D[row], 1e-7);
        expect_near(reader.at(x).dG[k][row], G[row], 1e-6);
      }
    }
  }
}

TEST(GeodesicReading, SplineReadsCubicPolynomialsAwayFromTheEnds) {
  // Cubic splines reproduce cubics; the influence of the mirrored ends decreases by 0.27 per sample: 0.27^16 = 7e-10.
  std::vector<double> f;
  const auto cubic = [](double x) { return 1 + 0.1 * x - 0.02 * x * x + 3e-4 * x * x * x; };
  for (int i = 0; i < 40; ++i) f.push_back(cubic(i));
  const auto c = tridiagonal_coefficients(f);
  const auto at = [&](int i, double t) {
    const double s = 1 - t;
    const auto j = std::size_t(i);
    return (s * s * s * c[j - 1] + (4 - 6 * t * t + 3 * t * t * t) * c[j] + (4 - 6 * s * s + 3 * s * s * s) * c[j + 1] +
            t * t * t * c[j + 2]) /
           6;
  };
  EXPECT_NEAR(at(19, 0.3), cubic(19.3), 1e-7);
  EXPECT_NEAR(at(20, 0.75), cubic(20.75), 1e-7);
}

/// (z + z^2 / 100) I: its inverse is not linear, and differences of it are worked out directly.
class rising final : public tensor_formula {
 public:
  mat3 D(const vec3& x) const override { return (x[2] + x[2] * x[2] / 100) * identity3; }
  mat3_gradient dD(const vec3& x) const override { return {mat3{}, mat3{}, (1 + x[2] / 50) * identity3}; }
};

TEST(GeodesicReading, DifferencesOfTheInverseByHand) {
  const sampling_grid grid{{3, 3, 6}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 2}}}, {0, 0, 10}};
  const sampled_reader reader(sampled(rising(), grid), interpolation::trilinear, inverse_derivatives::differences);
  const auto G = [](double z) { return 1 / (z + z * z / 100); };
  // Voxels are 2 mm apart along z: voxel 2 is at z = 14.
  EXPECT_NEAR(reader.at({1, 1, 14}).dG[2][0][0], (G(16) - G(12)) / 4, 1e-8);
  EXPECT_NEAR(reader.at({1, 1, 15}).dG[2][1][1], (G(16) - G(12) + G(18) - G(14)) / 8, 1e-8);
  EXPECT_NEAR(reader.at({1, 1, 10}).dG[2][2][2], (-3 * G(10) + 4 * G(12) - G(14)) / 4, 1e-8);
  EXPECT_NEAR(reader.at({1, 1, 20}).dG[2][2][2], (3 * G(20) - 4 * G(18) + G(16)) / 4, 1e-8);
  EXPECT_NEAR(reader.at({1, 1, 14}).dG[0][0][0], 0, 1e-12);
}

TEST(GeodesicReference, AccelerationInTheHalfSpaceByHand) {
  // Conformal: a = |v|^2 grad ln n - 2 (v . grad ln n) v, with grad ln n = (0, 0, -1/z).
  const vec3 x{1, 2, 8}, v{3, 0, 2};
  const auto values = formula_reader(half_space).at(x);
  expect_near(christoffel_acceleration(values.D, values.dG, v), {1.5, 0, -13.0 / 8 + 1}, 1e-12);
  // dD/dz = 2 z / a^2 I.
  expect_near(momentum_rate(values.dD, {1, 2, 2}), {0, 0, -0.5 * 9 * 2 * 8 / 1024.0}, 1e-15);
}

TEST(GeodesicReference, BothFormsAreTheSameRay) {
  const vec3 x0{20, 33, 41}, u0{0.5, -0.6, 0.3};
  walk_settings how{ray_form::christoffel, integrator::rk4, 0.05, 400};
  const auto a = walk(formula_reader(pullback), x0, u0, how);
  how.form = ray_form::hamiltonian;
  const auto b = walk(formula_reader(pullback), x0, u0, how);
  expect_near(a.back().place, b.back().place, 1e-8);
  EXPECT_NEAR(a.back().energy, b.back().energy, 1e-8);
  EXPECT_NEAR(a.back().metric_length, pullback.distance(x0, a.back().place), 1e-6);
  EXPECT_NEAR(b.back().metric_length, pullback.distance(x0, b.back().place), 1e-6);
  EXPECT_NEAR(norm(a.back().direction), 1, 1e-12);
}

TEST(GeodesicReference, StraightLinesAreExactForEveryScheme) {
  for (const auto f : {ray_form::christoffel, ray_form::hamiltonian})
    for (const auto m : {integrator::euler, integrator::rk2_frozen, integrator::rk2, integrator::rk4})
      expect_near(walk(formula_reader(constant), {1, 2, 3}, {1, 2, -2}, {f, m, 0.3, 40}).back().place, {5, 10, -5},
                  1e-12);
}

struct order_case {
  integrator method;
  double order;
};
class GeodesicReferenceOrder : public testing::TestWithParam<order_case> {};

TEST_P(GeodesicReferenceOrder, IsThatOfTheScheme) {
  const vec3 u0{0.5, -0.6, 0.3};
  for (const auto f : {ray_form::christoffel, ray_form::hamiltonian})
    for (const auto& [name, field, place] : solved) {
      if (&field == &constant) continue;
      const auto error = [&, &solution = field, &start = place](double h) {
        const auto steps = static_cast<std::size_t>(std::lround(16 / h));
        const auto last = walk(formula_reader(solution), start, u0, {f, GetParam().method, h, steps}).back();
        return norm(last.place - solution.end_of_metric_length(start, u0, last.metric_length));
      };
      const double slope = std::log2(error(0.25) / error(0.125));
      EXPECT_NEAR(slope, GetParam().order, 0.25) << name << ", form " << int(f);
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, GeodesicReferenceOrder,
                         testing::Values(order_case{integrator::euler, 1}, order_case{integrator::rk2_frozen, 1},
                                         order_case{integrator::rk2, 2}, order_case{integrator::rk4, 4}));

TEST(GeodesicReference, EndsWhereTheHelixSays) {
  const vec3 x0{9, 4, 3}, u0{-0.4, 0.7, 0.5};
  const auto ray = walk(formula_reader(shallow_helix), x0, u0, {ray_form::hamiltonian, integrator::rk4, 0.05, 300});
  expect_near(ray.back().place, shallow_helix.end_of_metric_length(x0, u0, ray.back().metric_length), 1e-6);
}

TEST(GeodesicReference, StreamlinesFollowTheHelix) {
  const vec3 x0{2 + 5, 1, 0};  // 5 from the axis: a turn in z' / theta' = b
  const auto ray =
      walk(formula_reader(shallow_helix), x0, {0, 0, 1}, {ray_form::streamline, integrator::rk4, 0.1, 130});
  // A shallow_helix of 13 mm length with r = 5, b = 12 rises 12 mm and turns by 1 radian.
  expect_near(ray.back().place, {2 + 5 * std::cos(1), 1 + 5 * std::sin(1), 12}, 1e-6);
}

TEST(GeodesicReference, MainAxisByHand) {
  expect_near(main_axis({{{2, 1, 0}, {1, 2, 0}, {0, 0, 1}}}, {-1, 0, 0}), {-std::sqrt(0.5), -std::sqrt(0.5), 0}, 1e-12);
}

TEST(GeodesicReference, VoxelsCrossedByHand) {
  using voxels = std::vector<voxel_index>;
  EXPECT_EQ(voxels_crossed({0, 0, 0}, {0.4, 0.1, -0.2}), (voxels{{0, 0, 0}}));
  EXPECT_EQ(voxels_crossed({0, 0, 0}, {2, 0, 0}), (voxels{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(voxels_crossed({2, 0, 0}, {0, 0, 0}), (voxels{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}}));
  // x leaves voxel 0 at t = 1/4, y at 1/3.
  EXPECT_EQ(voxels_crossed({0.25, 0, 0}, {1.25, 1.5, 0}), (voxels{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}));
}

}  // namespace
