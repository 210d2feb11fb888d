#include <gtest/gtest.h>

#include <cstdio>

#include "tests/connect/support/connect_case.hpp"
#include "tests/support/devices.hpp"

/// Errors of arrival times in fields where they are known, 64^3 voxels: at most those of a prototype of the schemes.
/// `other` is the limit where the schemes in double differ from the prototype. Its second order chose its differences
/// anew in every update instead of once: 10 % better in the paper's example, up to 15 % worse elsewhere. Its Hopf-Lax
/// updates missed some of the minima: arrival times were larger than here, and more uniform along fibres between voxel
/// directions.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

/// The table has two digits: tolerance half of the last one, and 3 % of the error.
double at_most(double table) { return table * 1.03 + 0.005; }

struct fibre {
  vec3 direction;
  double ratio;
  double table[4];  ///< u / exact, in the order of connect_schemes; 0: takes minutes
  double other[4] = {};
};

/// On the line along the fibre through the source, at its end.
TEST(ConnectAccuracy, ErrorAlongTheFibreMatchesTheTable) {
  const fibre table[] = {{{1, 2, 3}, 10, {1.10, 1.04, 1.25, 1.09}},
                         {{1, 2, 3}, 100, {1.07, 1.05, 2.15, 1.87}, {0, 1.06}},
                         {{1, 2, 3}, 1e4, {1.001, 1.001}},
                         {{1, 1, 1}, 100, {1.005, 1.005, 2.07, 1.00}},
                         {{3, 1, 0}, 100, {1.06, 1.03, 1.65, 1.86}}};
  for (const auto& [direction, ratio, expected, other] : table) {
    const auto c = cases::constant(fibre_tensor(direction, ratio), 64);
    double n = 0;
    while (c.has(c.source + (n + 1) * direction)) ++n;
    const vec3 end = c.source + n * direction;
    for (std::size_t s = 0; s < 4; ++s) {
      if (expected[s] == 0) continue;
      const auto& scheme = connect_schemes[s];
      const auto u = solve_arrivals(two_threads, c, one_voxel(c), scheme.settings());
      const double got = arrival_at(c, u, end) / c.distance(c.source, end);
      std::printf("(%g,%g,%g) ratio %-5g %-10s u/exact %7.4f (table %g)\n", direction[0], direction[1], direction[2],
                  ratio, scheme.name, got, expected[s]);
      EXPECT_LE(got - 1, at_most((other[s] > 0 ? other : expected)[s] - 1)) << scheme.name;
    }
  }
}

struct volume {
  connect_case (*make)(std::uint64_t side);
  double table[4];  ///< %
  double other[4] = {};
};

/// Mean over the volume, starting from a ball of two voxels with exact values.
TEST(ConnectAccuracy, ErrorOverTheVolumeMatchesTheTable) {
  const volume table[] = {{cases::paper_example, {2.56, 0.34, 3.47, 0.70}},
                          {cases::half_space, {3.58, 0.25, 3.58, 1.34}},
                          {cases::pullback, {3.37, 0.42, 3.69, 1.32}, {0, 0.45}}};
  for (const auto& [make, expected, other] : table) {
    const auto c = make(64);
    for (std::size_t s = 0; s < 4; ++s) {
      const auto& scheme = connect_schemes[s];
      const double percent = 100 * relative_l1(c, solve_arrivals(two_threads, c, exact_ball(c, 2), scheme.settings()));
      std::printf("%-13s %-10s relative L1 %.3f %% (table %g)\n", c.name.c_str(), scheme.name, percent, expected[s]);
      EXPECT_LE(percent, at_most((other[s] > 0 ? other : expected)[s])) << c.name << ' ' << scheme.name;
    }
  }
}

struct way {
  vec3 direction;
  double ratio, half;  ///< the ends are `half` directions from the middle
  double epsilon[4], dice[4];
  double other_epsilon[4] = {}, other_dice[4] = {};
};

/// Between two ends of a fibre: the smallest excess that includes all voxels of the straight line, and the similarity
/// of the voxels with an excess of up to 5 % to the true ones.
TEST(ConnectAccuracy, PathwayMatchesTheTable) {
  const way table[] = {
      {{1, 1, 1}, 28, 24, {0.002, 0.004, 0.149, 0.000}, {0.69, 0.77, 0.03, 0.70}},
      {{1, 2, 3}, 10, 8, {0.036, 0.018, 0.09, 0.036}, {0.63, 0.87, 0.06, 0.66}},
      {{1, 2, 3}, 100, 8, {0.016, 0.023, 0.23, 0.055}, {0.5, 0.53, 0.03, 0.3}, {0, 0, 0, 0.144}, {0, 0, 0, 0.03}},
      {{3, 1, 0}, 100, 8, {0.025, 0.017, 0.16, 0.037}, {0.80, 0.95, 0.11, 0.59}, {0, 0.02, 0, 0.123}, {0, 0, 0, 0.11}}};
  for (const auto& row : table) {
    const auto c = cases::constant(fibre_tensor(row.direction, row.ratio), 64);
    for (std::size_t s = 0; s < 4; ++s) {
      const auto& scheme = connect_schemes[s];
      const pathway_score got = pathway_of(two_threads, c, row.direction, row.half, scheme.settings());
      std::printf("(%g,%g,%g) ratio %-4g %-10s epsilon %.4f (table %g), Dice %.3f (table %g)\n", row.direction[0],
                  row.direction[1], row.direction[2], row.ratio, scheme.name, got.epsilon, row.epsilon[s], got.dice,
                  row.dice[s]);
      EXPECT_LE(got.epsilon, (row.other_epsilon[s] > 0 ? row.other_epsilon : row.epsilon)[s] * 1.03 + 0.0005)
          << scheme.name;
      EXPECT_GE(got.dice, (row.other_dice[s] > 0 ? row.other_dice : row.dice)[s] * 0.97 - 0.005) << scheme.name;
    }
  }
}

struct turns {
  double ratio;
  const connect_scheme& scheme;
  double table[3];  ///< u / length of the arc after 1/4, 1/2 and 1 turn
};

/// Along a fibre wound around an axis. The true values are 0.994, 0.964, 0.696 for a ratio of 10 and 1.006, 0.983, at
/// most 0.968 for 100. The prototype's second order has 1.30 after one turn at a ratio of 100. At 10,000, the paper's
/// second example, only the paper's scheme is tested: the others are as far off
/// (docs/papers/jeong-2007-example2-error.csv) and hl26 takes half a minute.
TEST(ConnectAccuracy, ErrorAlongAHelixMatchesTheTable) {
  const turns table[] = {
      {10, selling1, {1.11, 1.04, 0.73}},   {10, selling2, {1.03, 0.97, 0.71}},  {10, godunov27, {1.24, 1.12, 0.70}},
      {10, hl26, {1.11, 1.03, 0.70}},       {100, selling1, {1.61, 1.55, 1.48}}, {100, selling2, {1.43, 1.35, 1.34}},
      {100, godunov27, {2.16, 1.78, 1.50}}, {100, hl26, {1.85, 1.66, 1.54}},     {1e4, godunov27, {15.3, 11.1, 8.2}}};
  for (const auto& [ratio, scheme, expected] : table) {
    const auto c = cases::helix(1 / ratio, 64);
    const auto u = solve_arrivals(two_threads, c, one_voxel(c), scheme.settings());
    const double turn[] = {0.25, 0.5, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      const double got = arrival_at(c, u, cases::on_helix(turn[i])) / cases::helix_length(turn[i]);
      std::printf("helix, ratio %-5g %-10s %.2f turns: u/arc %.3f (table %g)\n", ratio, scheme.name, turn[i], got,
                  expected[i]);
      EXPECT_LE(got, expected[i] + 0.005 + 0.03 * std::abs(expected[i] - 1)) << ratio << ' ' << scheme.name;
    }
  }
}

}  // namespace
