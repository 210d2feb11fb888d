#include "tests/connect/reference/connect_local.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/paper/godunov27.hpp"
#include "kernels/connect/paper/hopf_lax26.hpp"
#include "kernels/connect/stencil_maker.hpp"
#include "kernels/portable/lane_math.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using lane::float_lanes;

/// The scalar type of a Number.
template <class Number>
using scalar = std::conditional_t<std::is_same_v<Number, double>, double, float>;

template <class Number>
double first_lane(const Number& x) {
  if constexpr (std::is_arithmetic_v<Number>)
    return x;
  else
    return x[0];
}

/// A rounding error of S, relative to its largest entry, changes a path's cost by up to half the ratio of eigenvalues
/// times it; eliminating an axis needs three of them, and two axes are eliminated. Values and roots add a few more.
template <class Number>
double tolerance(double ratio) {
  return double{std::numeric_limits<scalar<Number>>::epsilon()} * (8 + 3 * ratio);
}

class random_case {
 public:
  explicit random_case(unsigned seed) : random_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }
  vec3 direction() { return unit({normal(), normal(), normal()}); }

  /// Eigenvalues 1, 1 / ratio and one in between along random axes, rounded to float so that all types get the same
  /// numbers.
  mat3 tensor(double ratio) {
    const vec3 x = direction(), y = unit(cross(x, direction())), z = cross(x, y);
    mat3 s = outer(x, x) + std::pow(ratio, -between(0, 1)) * outer(y, y) + (1 / ratio) * outer(z, z);
    for (auto& row : s)
      for (double& entry : row) entry = float(entry);
    return s;
  }
  /// Random values with a spread of about the cost of one voxel.
  double spread(const mat3& s) {
    const mat3 g = inverse(s);
    return std::sqrt((g[0][0] + g[1][1] + g[2][2]) / 3) * std::pow(10.0, between(-2, 0.5));
  }
  /// Some are missing.
  void draw(double spread, double missing_part, double& value) {
    value = between(0, 1) < missing_part ? missing : double{float(between(0, spread))};
  }
  six_neighbours six(double spread) {
    six_neighbours v;
    const double part = between(0, 1) < 0.5 ? 0 : between(0, 0.8);
    for (std::size_t d = 0; d < 3; ++d) draw(spread, part, v.before[d]), draw(spread, part, v.after[d]);
    return v;
  }
  /// Half of them near a flat front's, so that faces and edges are chosen too.
  cube_neighbours cube(const mat3& s, double spread) {
    cube_neighbours v;
    const double part = between(0, 1) < 0.5 ? 0 : between(0, 0.8), noise = between(0, 1) < 0.5 ? 1 : 0.05;
    vec3 p = direction();
    p = (noise < 1 ? 1 / std::sqrt(form(p, s, p)) : 0) * p;
    for (int n = 0; n < 27; ++n) {
      double& value = v[static_cast<std::size_t>(n)];
      draw(noise * spread, part, value);
      const double front = p[0] * (n % 3) + p[1] * (n / 3 % 3) + p[2] * (n / 9);
      if (value < missing) value = float(value + front + 3 * norm(p));
    }
    return v;
  }

 private:
  std::mt19937 random_;
};

/// S as passed to the callables.
template <class Number>
struct packed {
  Number entry[6];
  explicit packed(const mat3& s) {
    const double upper[6] = {s[0][0], s[0][1], s[0][2], s[1][1], s[1][2], s[2][2]};
    for (int i = 0; i < 6; ++i) entry[i] = static_cast<scalar<Number>>(upper[i]);
  }
};

template <class Number>
double godunov(const mat3& s, const six_neighbours& v, double old = missing) {
  Number before[3], after[3];
  for (std::size_t d = 0; d < 3; ++d) {
    before[d] = static_cast<scalar<Number>>(v.before[d]);
    after[d] = static_cast<scalar<Number>>(v.after[d]);
  }
  const connect::godunov27<Number> update(packed<Number>(s).entry);
  return first_lane<Number>(update(before, after, Number(static_cast<scalar<Number>>(old))));
}

template <class Number>
double hopf_lax(const mat3& s, const cube_neighbours& v, double old = missing) {
  const auto at = [&](int x, int y, int z) {
    return Number(static_cast<scalar<Number>>(v[static_cast<std::size_t>(13 + x + 3 * y + 9 * z)]));
  };
  const connect::hopf_lax26<Number> update(packed<Number>(s).entry);
  return first_lane<Number>(update(at, Number(static_cast<scalar<Number>>(old))));
}

double random_ratio(random_case& draw) { return std::pow(10.0, draw.between(0, 4)); }

template <class Number>
class ConnectLocal : public testing::Test {};
using number_types = testing::Types<float, float_lanes, double>;
TYPED_TEST_SUITE(ConnectLocal, number_types);

TYPED_TEST(ConnectLocal, GodunovIsThePapersSmallestValidCase) {
  random_case draw(1);
  int valid = 0, smaller = 0;
  for (int n = 0; n < 20000; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio);
    const six_neighbours v = draw.six(draw.spread(s));
    const auto expected = smallest_valid_case(s, v);
    if (!expected) continue;
    const double u = godunov<TypeParam>(s, v), error = (u - *expected) / *expected;
    ++valid;
    ASSERT_LE(error, tolerance<TypeParam>(ratio)) << "ratio " << ratio;
    smaller += error < -tolerance<TypeParam>(ratio);
  }
  EXPECT_GT(valid, 15000);
  // If neighbours on both sides are early, the Hamiltonian need not increase with u.
  EXPECT_LE(smaller, valid / 1000);
}

TYPED_TEST(ConnectLocal, GodunovSolvesTheNestedHamiltonian) {
  random_case draw(2);
  int with_room = 0;
  for (int n = 0; n < 400; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio);
    const six_neighbours v = draw.six(draw.spread(s));
    const double u = godunov<double>(s, v);
    bool room = u < missing / 2;
    for (std::size_t d = 0; d < 3; ++d) room = room && u < (v.before[d] + v.after[d]) / 2;
    if (!room) continue;
    ++with_room;
    ASSERT_TRUE(smallest_valid_case(s, v));
    const double expected = godunov_root(s, v);
    EXPECT_NEAR(godunov<TypeParam>(s, v), expected, expected * (1e-7 + tolerance<TypeParam>(ratio))) << ratio;
  }
  EXPECT_GT(with_room, 50);
}

TYPED_TEST(ConnectLocal, GodunovIsNeverBelowASolution) {
  random_case draw(3);
  for (int n = 0; n < 200; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio);
    const six_neighbours v = draw.six(draw.spread(s));
    const double u = godunov<TypeParam>(s, v);
    if (u >= missing / 2) continue;
    EXPECT_GE(godunov_flux(s, v, u * (1 + 1e-7 + tolerance<TypeParam>(ratio))), 1 - 1e-6) << ratio;
    EXPECT_LE(u, cheapest_axis(s, v) * (1 + tolerance<TypeParam>(ratio)));
  }
}

TYPED_TEST(ConnectLocal, HopfLaxIsTheMinimumOverTheTriangles) {
  random_case draw(4);
  int reached = 0;
  for (int n = 0; n < 200; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio);
    const cube_neighbours v = draw.cube(s, draw.spread(s));
    const double u = hopf_lax<TypeParam>(s, v), expected = hopf_lax_minimum(s, v);
    if (expected >= missing) {
      EXPECT_GE(u, missing / 2);
      continue;
    }
    ++reached;
    EXPECT_NEAR(u, expected, expected * (1e-9 + tolerance<TypeParam>(ratio))) << "ratio " << ratio;
  }
  EXPECT_GT(reached, 150);
}

TYPED_TEST(ConnectLocal, OneNeighbourGivesTheStraightPath) {
  random_case draw(5);
  for (int n = 0; n < 200; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio), g = inverse(s);
    for (std::size_t at = 0; at < 27; ++at) {
      if (at == 13) continue;
      cube_neighbours v;
      v.fill(missing);
      v[at] = 2;
      const vec3 y{double(at % 3) - 1, double(at / 3 % 3) - 1, double(at / 9) - 1};
      const double expected = 2 + std::sqrt(form(y, g, y));
      EXPECT_NEAR(hopf_lax<TypeParam>(s, v), expected, expected * tolerance<TypeParam>(ratio)) << "ratio " << ratio;
    }
  }
}

TYPED_TEST(ConnectLocal, WithoutNeighboursNothingIsReached) {
  const mat3 s = random_case(6).tensor(30);
  cube_neighbours v;
  v.fill(missing);
  EXPECT_GE(godunov<TypeParam>(s, {{missing, missing, missing}, {missing, missing, missing}}), connect::unreached);
  EXPECT_GE(hopf_lax<TypeParam>(s, v), connect::unreached);
}

TYPED_TEST(ConnectLocal, AnEarlierOldValueStays) {
  random_case draw(7);
  for (int n = 0; n < 500; ++n) {
    const mat3 s = draw.tensor(random_ratio(draw));
    const six_neighbours six = draw.six(1);
    const cube_neighbours cube = draw.cube(s, 1);
    const double g = godunov<TypeParam>(s, six), h = hopf_lax<TypeParam>(s, cube);
    EXPECT_EQ(godunov<TypeParam>(s, six, 0.25), std::min(g, 0.25));
    EXPECT_EQ(hopf_lax<TypeParam>(s, cube, 0.25), std::min(h, 0.25));
  }
}

TYPED_TEST(ConnectLocal, HopfLaxIsExactForFlatFronts) {
  random_case draw(8);
  for (int n = 0; n < 500; ++n) {
    const double ratio = random_ratio(draw);
    const mat3 s = draw.tensor(ratio);
    vec3 p = draw.direction();
    p = (1 / std::sqrt(form(p, s, p))) * p;
    cube_neighbours v;
    const double at_centre = 4 * norm(p);
    for (int i = 0; i < 27; ++i)
      v[static_cast<std::size_t>(i)] =
          at_centre + dot(p, {double(i % 3 - 1), double(i / 3 % 3 - 1), double(i / 9 - 1)});
    EXPECT_NEAR(hopf_lax<TypeParam>(s, v), at_centre, at_centre * tolerance<TypeParam>(ratio)) << "ratio " << ratio;
  }
}

/// A cube of voxels with a source, swept from all corners in turn until nothing changes.
class swept_cube {
 public:
  static constexpr int side = 12, voxels = side * side * side, source = 4 + side * (5 + side * 3);

  template <class Tensor, class Update>
  std::vector<double> operator()(const Tensor& tensor, const Update& update) const {
    std::vector<double> u(voxels, missing);
    u[source] = 0;
    bool changed = true;
    for (int sweep = 0; changed || sweep % 8 != 0; ++sweep) {
      if (sweep % 8 == 0) changed = false;
      for (int k = 0; k < voxels; ++k) {
        int at[3] = {k % side, k / side % side, k / side / side};
        for (int d = 0; d < 3; ++d) at[d] = sweep >> d & 1 ? side - 1 - at[d] : at[d];
        double& here = u[index(at)];
        const double now = update(tensor(at), neighbours(u, at), here);
        if (now < here * (1 - 1e-13)) here = now, changed = true;
      }
    }
    return u;
  }

 private:
  static std::size_t index(const int (&at)[3]) {
    return static_cast<std::size_t>(at[0] + side * (at[1] + side * at[2]));
  }
  static six_neighbours neighbours(const std::vector<double>& u, const int (&at)[3]) {
    six_neighbours v;
    for (std::size_t d = 0; d < 3; ++d)
      for (const int step : {-1, 1}) {
        int there[3] = {at[0], at[1], at[2]};
        there[d] += step;
        const bool inside = there[d] >= 0 && there[d] < side;
        (step < 0 ? v.before : v.after)[d] = inside ? u[index(there)] : missing;
      }
    return v;
  }
};

double papers_update(const mat3& s, const six_neighbours& v, double old) {
  const auto valid = smallest_valid_case(s, v);
  return std::min(old, valid ? *valid : cheapest_axis(s, v));
}

mat3 along(const vec3& fibre, double ratio) {
  return (1 - 1 / ratio) * outer(unit(fibre), unit(fibre)) + (1 / ratio) * identity3;
}

TEST(ConnectSweeps, GodunovEndsWhereThePapersTestDoesInConstantTensors) {
  const swept_cube sweep;
  for (const mat3& s : {along({1, 1, 1}, 28), along({1, 2, 3}, 100), along({3, 1, 0}, 1000)}) {
    const auto tensor = [&](const int(&)[3]) -> const mat3& { return s; };
    const auto paper = sweep(tensor, papers_update), own = sweep(tensor, godunov<double>);
    for (std::size_t i = 0; i < paper.size(); ++i) EXPECT_NEAR(own[i], paper[i], 1e-9 * paper[i]);
  }
}

TEST(ConnectSweeps, GodunovEndsAtOrBelowThePapersTestInTurningTensors) {
  const swept_cube sweep;
  const auto helix = [](const int(&at)[3]) { return along({5.5 - at[1], at[0] - 5.5, 4}, 100); };
  const auto paper = sweep(helix, papers_update), own = sweep(helix, godunov<double>);
  for (std::size_t i = 0; i < paper.size(); ++i) EXPECT_LE(own[i], paper[i] * (1 + 1e-9));
}

mat3 recompose(const connect::selling_decomposition& d) {
  mat3 s{};
  for (int i = 0; i < 6; ++i) {
    const vec3 e{double(d.offset[i][0]), double(d.offset[i][1]), double(d.offset[i][2])};
    s = s + d.weight[i] * outer(e, e);
  }
  return s;
}

connect::selling_decomposition decomposed(const mat3& s) { return connect::decompose(packed<double>(s).entry); }

TEST(Selling, GivesBackTheTensorByWeightsThatAreNotNegative) {
  random_case draw(9);
  for (int n = 0; n < 20000; ++n) {
    const mat3 s = draw.tensor(random_ratio(draw));
    const auto d = decomposed(s);
    const mat3 back = recompose(d);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(back[i][j], s[i][j], 1e-12);
    for (const double w : d.weight) EXPECT_GE(w, 0);
  }
}

int largest_offset(const connect::selling_decomposition& d) {
  int largest = 0;
  for (int i = 0; i < 6; ++i)
    for (const int e : d.offset[i])
      if (d.weight[i] > 0) largest = std::max(largest, std::abs(e));
  return largest;
}

TEST(Selling, OffsetsGrowAsTheSquareRootOfTheRatio) {
  for (const vec3& along : {vec3{1, 1, 1}, vec3{1, 2, 3}, vec3{3, 1, 0}}) {
    const mat3 fast = outer(unit(along), unit(along));
    EXPECT_LE(largest_offset(decomposed(0.99 * fast + 0.01 * identity3)), 3);
  }
  random_case draw(10);
  for (int n = 0; n < 20000; ++n) {
    const double ratio = random_ratio(draw);
    const int largest = largest_offset(decomposed(draw.tensor(ratio)));
    EXPECT_LE(largest, 1 + 2 * std::sqrt(ratio));
    EXPECT_LE(largest, 127) << "an offset is stored in a byte";
  }
}

TEST(Selling, ItsBisectionSolvesForTheArrivalTime) {
  random_case draw(11);
  for (int n = 0; n < 200; ++n) {
    const auto d = decomposed(draw.tensor(random_ratio(draw)));
    std::array<double, 6> weight, lower;
    for (std::size_t i = 0; i < 6; ++i) weight[i] = d.weight[i], lower[i] = draw.between(0, 3);
    const double u = selling_root(weight, lower);
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += weight[i] * std::pow(std::max(0.0, u - lower[i]), 2);
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

}  // namespace
