#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/tensor_field/finsler4.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using vector = double[3];
using matrix = double[6];
using quartic = double[quartic_size];

struct full_tensor {
  double at[3][3][3][3];
};

/// All 81 components, by index.
full_tensor full(const quartic& t) {
  full_tensor f;
  for (int i = 0; i < 81; ++i) {
    const int index[4] = {i / 27, i / 9 % 3, i / 3 % 3, i % 3};
    int not_x = 0, z = 0;
    for (const int k : index) not_x += k > 0, z += k == 2;
    f.at[index[0]][index[1]][index[2]][index[3]] = t[not_x * (not_x + 1) / 2 + z];
  }
  return f;
}

class Finsler4 : public testing::Test {
 protected:
  double normal() { return normal_(random_); }
  void draw(vector& v) {
    for (double& x : v) x = normal();
  }
  /// A A^T + 1/4
  void draw_metric(matrix& g) {
    double a[3][3];
    for (auto& row : a)
      for (double& x : row) x = normal();
    const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
    for (int p = 0; p < 6; ++p) {
      g[p] = first[p] == second[p] ? 0.25 : 0;
      for (int k = 0; k < 3; ++k) g[p] += a[first[p]][k] * a[second[p]][k];
    }
  }
  /// A norm that does not belong to a metric.
  void draw_norm(quartic& t) {
    for (double& x : t) x = 0;
    for (int i = 0; i < 3; ++i) {
      matrix g;
      quartic one;
      draw_metric(g);
      quartic_of_metric(g, one);
      for (int n = 0; n < quartic_size; ++n) t[n] += one[n];
    }
  }

 private:
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
};

/// F^2, differenced.
double squared_norm(const quartic& t, const vector& v) { return std::sqrt(quartic_value(t, v)); }

TEST_F(Finsler4, ContractionsAreThoseOfAllComponents) {
  quartic t;
  for (double& x : t) x = normal();
  vector v;
  draw(v);
  const full_tensor f = full(t);

  const finsler4_at<double> at(t, v);

  double q = 0, t1[3] = {}, t2[3][3] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) {
          q += f.at[i][j][k][l] * v[i] * v[j] * v[k] * v[l];
          t1[i] += f.at[i][j][k][l] * v[j] * v[k] * v[l];
          t2[i][j] += f.at[i][j][k][l] * v[k] * v[l];
        }
  EXPECT_NEAR(at.q, q, 1e-12);
  EXPECT_NEAR(quartic_value(t, v), q, 1e-12);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(at.t1[i], t1[i], 1e-12);
  const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  for (int p = 0; p < 6; ++p) EXPECT_NEAR(at.t2[p], t2[first[p]][second[p]], 1e-12);
}

TEST_F(Finsler4, IsTheMetricsOwnNormForTheSquareOfAMetric) {
  matrix g;
  vector v;
  draw_metric(g), draw(v);
  quartic t;
  quartic_of_metric(g, t);

  const finsler4_at<double> at(t, v);
  double scaled[6];
  at.scaled_metric(scaled);

  EXPECT_NEAR(finsler4_energy(t, v), quadratic(g, v), 1e-12 * quadratic(g, v));
  for (int p = 0; p < 6; ++p) EXPECT_NEAR(scaled[p] / std::sqrt(at.q), g[p], 1e-12 * at.q);
}

TEST_F(Finsler4, FundamentalTensorIsHalfTheHessianOfTheSquaredNorm) {
  quartic t;
  vector v;
  draw_norm(t), draw(v);
  const finsler4_at<double> at(t, v);
  double scaled[6];
  at.scaled_metric(scaled);

  const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  const double h = 1e-4;
  for (int p = 0; p < 6; ++p) {
    const auto moved = [&](double a, double b) {
      vector w = {v[0], v[1], v[2]};
      w[first[p]] += a * h, w[second[p]] += b * h;
      return squared_norm(t, w);
    };
    const double hessian = (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / (4 * h * h);
    EXPECT_NEAR(scaled[p] / std::sqrt(at.q), hessian / 2, 1e-5 * std::fabs(scaled[0]));
  }
}

/// v, and the acceleration that Christoffel symbols give for a metric and its derivatives.
void lagrangian_acceleration(const matrix& g, const matrix (&dg)[3], const vector& v, vector& a) {
  vector w = {};
  for (int k = 0; k < 3; ++k) {
    vector gv;
    apply(dg[k], v, gv);
    for (int s = 0; s < 3; ++s) w[s] -= v[k] * gv[s];
    w[k] += 0.5 * dot(v, gv);
  }
  solve(g, w, a);
}

TEST_F(Finsler4, AccelerationIsChristoffelsForTheSquareOfAMetric) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    matrix g, dg[3];
    vector v;
    draw_metric(g), draw(v);
    quartic t, dt[3];
    quartic_of_metric(g, t);
    for (int k = 0; k < 3; ++k) {
      for (double& x : dg[k]) x = 0.1 * normal();
      // d(G x G): the polarised square, (G + dG)^2 - (G - dG)^2 over 2
      matrix more, less;
      quartic high, low;
      for (int p = 0; p < 6; ++p) more[p] = g[p] + dg[k][p], less[p] = g[p] - dg[k][p];
      quartic_of_metric(more, high), quartic_of_metric(less, low);
      for (int n = 0; n < quartic_size; ++n) dt[k][n] = 0.5 * (high[n] - low[n]);
    }

    vector a, expected;
    finsler4_acceleration(t, dt, v, a);
    lagrangian_acceleration(g, dg, v, expected);

    const double size = std::sqrt(dot(expected, expected));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(a[i], expected[i], 1e-11 * size);
  }
}

TEST_F(Finsler4, GeodesicsConserveTheEnergy) {
  // T(x) = T0 + x dT_x + ..., RK4 in double.
  quartic t0, dt[3];
  draw_norm(t0);
  for (auto& d : dt) {
    draw_norm(d);
    for (double& x : d) x *= 0.05;
  }
  const auto field = [&](const vector& x, quartic& t) {
    for (int n = 0; n < quartic_size; ++n) t[n] = t0[n] + x[0] * dt[0][n] + x[1] * dt[1][n] + x[2] * dt[2][n];
  };
  double y[6] = {0, 0, 0, 0.3, -0.2, 0.4};
  const auto rates = [&](const double(&at)[6], double(&out)[6]) {
    const vector x = {at[0], at[1], at[2]}, v = {at[3], at[4], at[5]};
    quartic t;
    vector a;
    field(x, t);
    finsler4_acceleration(t, dt, v, a);
    for (int i = 0; i < 3; ++i) out[i] = v[i], out[3 + i] = a[i];
  };
  const auto energy = [&] {
    const vector x = {y[0], y[1], y[2]}, v = {y[3], y[4], y[5]};
    quartic t;
    field(x, t);
    return finsler4_energy(t, v);
  };
  const double before = energy(), h = 0.01;
  for (int step = 0; step < 400; ++step) {
    double k[4][6];
    rates(y, k[0]);
    for (int s = 1; s < 4; ++s) {
      double moved[6];
      for (int i = 0; i < 6; ++i) moved[i] = y[i] + (s == 3 ? h : h / 2) * k[s - 1][i];
      rates(moved, k[s]);
    }
    for (int i = 0; i < 6; ++i) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
  ASSERT_GT(std::hypot(y[3] - 0.3, y[4] + 0.2, y[5] - 0.4), 0.01);  // the ray is curved
  EXPECT_NEAR(energy(), before, 1e-9 * before);
}

TEST_F(Finsler4, EnergyIsOfSecondAndAccelerationOfSecondDegreeInTheVelocity) {
  quartic t, dt[3];
  draw_norm(t);
  for (auto& d : dt)
    for (double& x : d) x = normal();
  vector v, a, b;
  draw(v);
  const vector w = {-3 * v[0], -3 * v[1], -3 * v[2]};

  finsler4_acceleration(t, dt, v, a);
  finsler4_acceleration(t, dt, w, b);

  EXPECT_NEAR(finsler4_energy(t, w), 9 * finsler4_energy(t, v), 1e-12 * finsler4_energy(t, w));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(b[i], 9 * a[i], 1e-11 * std::fabs(9 * a[i]));
}

TEST_F(Finsler4, TransformsAsDisplacementsDo) {
  quartic t, moved;
  for (double& x : t) x = normal();
  double m[9];
  for (double& x : m) x = normal();
  vector w, v;
  draw(w);
  for (int i = 0; i < 3; ++i) v[i] = m[3 * i] * w[0] + m[3 * i + 1] * w[1] + m[3 * i + 2] * w[2];

  quartic_transformed(t, m, moved);

  EXPECT_NEAR(quartic_value(moved, w), quartic_value(t, v), 1e-11 * std::fabs(quartic_value(t, v)));
  const finsler4_at<double> here(t, v), there(moved, w);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(there.t1[i], m[i] * here.t1[0] + m[3 + i] * here.t1[1] + m[6 + i] * here.t1[2], 1e-9);
}

TEST_F(Finsler4, GivesTheSameForFloatsAndLanes) {
  float t[quartic_size], dt[3][quartic_size], v[3] = {0.5f, -1, 0.75f}, a[3];
  lane::float_lanes tl[quartic_size], dl[3][quartic_size], vl[3], al[3];
  quartic norm;
  draw_norm(norm);
  for (int n = 0; n < quartic_size; ++n) {
    t[n] = static_cast<float>(norm[n]);
    tl[n] = t[n];
    for (int k = 0; k < 3; ++k) dt[k][n] = static_cast<float>(normal()), dl[k][n] = dt[k][n];
  }
  for (int i = 0; i < 3; ++i) vl[i] = v[i];

  finsler4_acceleration(t, dt, v, a);
  finsler4_acceleration(tl, dl, vl, al);

  for (int i = 0; i < 3; ++i) EXPECT_NEAR(al[i][1], a[i], 1e-4f * std::fabs(a[i]));
  EXPECT_NEAR(finsler4_energy(tl, vl)[1], finsler4_energy(t, v), 1e-5f * finsler4_energy(t, v));
}

/// x^4 + y^4 + z^4 + 2 (x^2 + y^2) z^2 + 6 c x^2 y^2: of the plane z = 0, convex for c in [0, 1] alone.
void set_plane_norm(double c, quartic& t) {
  for (double& x : t) x = 0;
  t[0] = t[10] = t[14] = 1;
  t[3] = c;
  t[5] = t[12] = 1.0 / 3;
}

TEST_F(Finsler4, DetectsNormsThatAreNotConvex) {
  quartic t;
  for (const double c : {0.02, 1.0 / 3, 0.98}) {
    set_plane_norm(c, t);
    EXPECT_TRUE(finsler4_convex(t, 0)) << c;
  }
  for (const double c : {-0.1, -0.02, 1.05, 1.5}) {
    set_plane_norm(c, t);
    EXPECT_FALSE(finsler4_convex(t, 0)) << c;
  }
  set_plane_norm(-1, t);  // not even positive
  EXPECT_FALSE(finsler4_convex(t, 0));
}

TEST_F(Finsler4, MakesConvexByTheSmallestMixture) {
  quartic t;
  set_plane_norm(0.98, t);
  EXPECT_EQ(finsler4_make_convex(t, 0), 0);
  EXPECT_EQ(t[3], 0.98);

  // (1 - part) 1.5 + part / 3 is 1 at part = 3/7; the 320 directions do not hit the worst one.
  set_plane_norm(1.5, t);
  const double part = finsler4_make_convex(t, 0);
  EXPECT_NEAR(part, 3.0 / 7, 0.02);
  EXPECT_NEAR(t[3], (1 - part) * 1.5 + part / 3, 1e-12);
  EXPECT_TRUE(finsler4_convex(t, 0));

  for (double& x : t) x = std::nan("");
  EXPECT_EQ(finsler4_make_convex(t, 0.1), 1);
  EXPECT_EQ(t[0], 1);
  EXPECT_NEAR(t[3], 1.0 / 3, 1e-12);
}

TEST_F(Finsler4, SpreadsItsDirectionsEvenly) {
  double sum[6] = {};
  half_sphere directions;
  for (int i = 0; i < half_sphere::count; ++i) {
    double w[3];
    directions.next(w);
    EXPECT_NEAR(dot(w, w), 1, 1e-12);
    sum[0] += w[0] * w[0], sum[1] += w[0] * w[1], sum[2] += w[0] * w[2];
    sum[3] += w[1] * w[1], sum[4] += w[1] * w[2], sum[5] += w[2] * w[2];
  }
  const double third = half_sphere::count / 3.0;
  const double expected[6] = {third, 0, 0, third, 0, third};
  for (int p = 0; p < 6; ++p) EXPECT_NEAR(sum[p], expected[p], 0.01 * third);
}

}  // namespace
