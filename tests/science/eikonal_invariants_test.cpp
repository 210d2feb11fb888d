#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/eikonal_claims.hpp"

/// What arrival times owe to the equation: symmetry, scale, order of convergence.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = eikonal_cases;

const device two_threads{backend::cpu, 2, 0};

class EikonalInvariants : public testing::TestWithParam<eikonal_scheme> {};

/// Where the grid is symmetric about the middle of both, the way back costs the same.
TEST_P(EikonalInvariants, TheWayBackCostsTheSame) {
  const auto c = cases::constant(fibre_tensor({1, 2, 3}, 20), 33);
  const vec3 middle{16, 16, 16}, aside{5, -7, 9};
  const auto there = arrivals_of(two_threads, c, one_voxel(c, middle - aside), GetParam().settings());
  const auto back = arrivals_of(two_threads, c, one_voxel(c, middle + aside), GetParam().settings());
  const double u = arrival_at(c, there, middle + aside);
  EXPECT_NEAR(arrival_at(c, back, middle - aside), u, float_tolerance * u);
}

/// In a field that turns both ways have an error of their own: no more than a few times that of the volume.
TEST_P(EikonalInvariants, TheWayBackCostsTheSameButForTheErrorWhereTensorsTurn) {
  const auto c = cases::pullback(48);
  for (const auto& [from, to] : {std::pair{vec3{10, 12, 14}, vec3{36, 30, 33}}, {vec3{24, 8, 40}, vec3{20, 40, 9}}}) {
    const double there = arrival_at(c, arrivals_of(two_threads, c, exact_ball(c, from, 2), GetParam().settings()), to);
    const double back = arrival_at(c, arrivals_of(two_threads, c, exact_ball(c, to, 2), GetParam().settings()), from);
    std::printf("%-10s there %.4f, back %.4f, exact %.4f\n", GetParam().name, there, back, c.distance(from, to));
    EXPECT_NEAR(there, back, 0.03 * there);
  }
}

/// New axis d is old axis order[d], turned round where flip[d].
eikonal_case with_axes(const eikonal_case& c, const std::array<std::size_t, 3>& order,
                       const std::array<bool, 3>& flip) {
  constexpr std::size_t at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  eikonal_case turned{c.name, {c.size[order[0]], c.size[order[1]], c.size[order[2]]}, {}, {}, {}, {}};
  const auto old_place = [&](const vec3& x) {
    vec3 old{};
    for (std::size_t d = 0; d < 3; ++d) old[order[d]] = flip[d] ? double(turned.size[d]) - 1 - x[d] : x[d];
    return old;
  };
  turned.inside.assign(c.inside.size(), 1);
  for (const vec3& x : places_inside(turned)) {
    const std::size_t to = turned.linear(x), from = c.linear(old_place(x));
    turned.inside[to] = c.inside[from];
    turned.tensors.resize(c.tensors.size());
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j)
        turned.tensors[8 * to + at[i][j]] =
            c.tensors[8 * from + at[order[i]][order[j]]] * (flip[i] == flip[j] ? 1.0f : -1.0f);
  }
  for (std::size_t d = 0; d < 3; ++d)
    turned.source[d] = flip[d] ? double(turned.size[d]) - 1 - c.source[order[d]] : c.source[order[d]];
  return turned;
}

TEST_P(EikonalInvariants, AxesMayBeExchangedAndTurnedRound) {
  for (const auto& c : {cases::ragged(), cases::helix(0.05, 24)}) {
    const auto u = arrivals_of(two_threads, c, one_voxel(c), GetParam().settings());
    for (const auto& [order, flip] : {std::pair{std::array<std::size_t, 3>{2, 0, 1}, std::array{false, false, false}},
                                      {{0, 2, 1}, {true, false, true}},
                                      {{1, 0, 2}, {true, true, true}}}) {
      const auto turned = with_axes(c, order, flip);
      const auto v = arrivals_of(two_threads, turned, one_voxel(turned), GetParam().settings());
      double largest = 0;
      for (const vec3& x : places_inside(c)) {
        vec3 y{};
        for (std::size_t d = 0; d < 3; ++d) y[d] = flip[d] ? double(turned.size[d]) - 1 - x[order[d]] : x[order[d]];
        const double a = arrival_at(c, u, x), b = arrival_at(turned, v, y);
        if (a != b) largest = std::max(largest, std::abs(a - b) / a);
      }
      EXPECT_LT(largest, float_tolerance) << c.name;
    }
  }
}

/// S -> c S divides arrival times by the root of c.
TEST_P(EikonalInvariants, TimesGoByTheRootOfTheTensor) {
  const auto c = cases::ragged();
  const auto u = arrivals_of(two_threads, c, one_voxel(c), GetParam().settings());
  for (const double factor : {7.0, 1e-4, 4e5}) {
    auto scaled = c;
    for (float& s : scaled.tensors) s = static_cast<float>(factor * double(s));
    auto v = arrivals_of(two_threads, scaled, one_voxel(scaled), GetParam().settings());
    for (float& t : v) t = static_cast<float>(std::sqrt(factor) * double(t));
    EXPECT_LT(largest_difference(v, u), float_tolerance) << factor;
  }
}

/// Errors of grids of 16, 32 and 64 voxels over the same cube, at places up to 18 from the source, where no way leaves
/// the cube. Exact values within 8 of the source: the point itself is not smooth, and would hide second order.
TEST_P(EikonalInvariants, RefinementGivesTheOrder) {
  const double order = GetParam().order;
  for (const auto make : {cases::paper_example, cases::half_space, cases::fish_eye, cases::pullback}) {
    std::vector<double> errors;
    for (const std::uint64_t side : {16, 32, 64}) {
      const auto c = make(side);
      const double unit_voxels = double(side) / 64;
      const auto u = arrivals_of(two_threads, c, exact_ball(c, 8 * unit_voxels), GetParam().settings());
      const auto places = places_inside(c);
      double error = 0, all = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (norm(places[i] - c.source) > 18 * unit_voxels) continue;
        const double exact = c.distance(c.source, places[i]);
        error += std::abs(double(u[i]) - exact), all += exact;
      }
      errors.push_back(error / all);
    }
    const double slope = std::log2(errors[0] / errors[2]) / 2;
    std::printf("%-10s %-13s errors %.2e %.2e %.2e: order %.2f\n", GetParam().name, make(2).name.c_str(), errors[0],
                errors[1], errors[2], slope);
    EXPECT_GT(slope, order - 0.3);
    EXPECT_LT(slope, order + 0.7);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EikonalInvariants, testing::ValuesIn(eikonal_schemes));

}  // namespace
