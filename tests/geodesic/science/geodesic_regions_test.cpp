#include <gtest/gtest.h>

#include <numbers>
#include <set>

#include "tests/geodesic/reference/geodesic_scores.hpp"
#include "tests/geodesic/support/geodesic_mosaic.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::geodesic;

voxel_index find_voxel(const vec3& x) { return {std::lround(x[0]), std::lround(x[1]), std::lround(x[2])}; }

class OneVoxelSheet : public testing::TestWithParam<voxel_index> {};  // its normal

/// Steps of 1.5 voxels along straight lines in every direction through a sheet one voxel thick. A line that ends beyond
/// the sheet has crossed it, at any slope: the only gaps of a sheet a + b + c = constant are edges.
TEST_P(OneVoxelSheet, IsNeverSteppedOver) {
  const voxel_index normal = GetParam();
  const sampling_grid grid{{60, 60, 60}, identity3, {}};
  const auto image = sampled(constant_field(identity3), grid);
  const auto level = [&](const voxel_index& v) { return normal[0] * v[0] + normal[1] * v[1] + normal[2] * v[2]; };
  const long sheet = level({30, 30, 30});
  // Starts on both sides, one to seven voxels away.
  std::vector<ray_start> starts;
  for (const auto& s : random_starts(6000, {25, 25, 25}, {35, 35, 35}, 11))
    if (level(find_voxel(s.voxel)) != sheet) starts.push_back(s);
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1.5, 14);

  const auto run = [&](std::uint32_t bits) {
    const auto regions = painted(grid, [&](long x, long y, long z) {
      return level({x, y, z}) == sheet ? bits : region::inside;
    });
    return tracking_case(two_threads, image, starts, settings, regions).score();
  };
  settings.includes = 1;
  const score_table included = run(include_bits(0));
  settings.includes = 0;
  const score_table excluded = run(region::inside | region::exclude);
  settings.targets = true;
  const score_table targeted = run(target_bits(7));

  std::size_t through = 0, grazing = 0;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    const vec3 from = starts[f].voxel, to = from + 21.0 * unit(starts[f].u);
    const auto crossed = voxels_crossed(from, to);
    bool hit = false;
    for (const auto& v : crossed) hit = hit || level(v) == sheet;
    const bool beyond = (level(find_voxel(to)) - sheet) * (level(find_voxel(from)) - sheet) < 0;
    ASSERT_TRUE(hit || !beyond);
    through += beyond, grazing += hit && !beyond;
    EXPECT_EQ(included.verdict[f], std::uint8_t(hit ? verdict::accepted : verdict::include_missed)) << f;
    EXPECT_EQ(excluded.verdict[f], std::uint8_t(hit ? verdict::excluded : verdict::accepted)) << f;
    EXPECT_EQ(excluded.stops[2 * f], std::uint8_t(hit ? stop_reason::exclude : stop_reason::length)) << f;
    EXPECT_EQ(targeted.verdict[f], std::uint8_t(hit ? verdict::accepted : verdict::no_target)) << f;
    EXPECT_EQ(targeted.stops[2 * f], std::uint8_t(hit ? stop_reason::target : stop_reason::length)) << f;
    EXPECT_EQ(targeted.regions[2 * f + 1], hit ? 7 : 0) << f;
  }
  EXPECT_GT(through, 1000u);
  EXPECT_GT(grazing, 0u);
}

INSTANTIATE_TEST_SUITE_P(Normals, OneVoxelSheet,
                         testing::Values(voxel_index{1, 0, 0}, voxel_index{0, 1, 0}, voxel_index{0, 0, 1},
                                         voxel_index{1, 1, 0}, voxel_index{0, 1, -1}, voxel_index{1, 1, 1},
                                         voxel_index{1, -1, 1}));

TEST(GeodesicRegions, OrderedIncludesCountOnlyInOrder) {
  const sampling_grid grid{{40, 11, 11}, identity3, {}};
  const auto image = sampled(constant_field(identity3), grid);
  const auto regions = painted(grid, [](long x, long, long) {
    return x == 12 ? include_bits(0) : x == 20 ? include_bits(1) : x == 27 ? include_bits(2) : region::inside;
  });
  const std::vector<ray_start> starts{{{5, 5, 5}, {1, 0, 0}},    // 0, 1, 2
                                      {{35, 5, 5}, {-1, 0, 0}},  // 2, 1, 0
                                      {{12, 5, 5}, {1, 0, 0}},   // begins in 0
                                      {{15, 5, 5}, {1, 0, 0}},   // 1, 2
                                      {{5, 5, 5}, {-1, 0, 0}}};  // none
  const auto verdicts = [&](bool ordered) {
    auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1.5, 100);
    settings.includes = 3;
    settings.ordered = ordered;
    return tracking_case(two_threads, image, starts, settings, regions).score().verdict;
  };
  const auto yes = std::uint8_t(verdict::accepted), no = std::uint8_t(verdict::include_missed);
  EXPECT_EQ(verdicts(false), (std::vector<std::uint8_t>{yes, yes, yes, no, no}));
  EXPECT_EQ(verdicts(true), (std::vector<std::uint8_t>{yes, no, yes, no, no}));
}

/// A mosaic of all kinds of regions on an oblique grid, with curved rays and stops and limits of every kind: the
/// tracker and the reference agree on every fibre.
struct mosaic_case {
  const char* name;
  ray_form form;
  interpolation reading;
  bool two_way, ordered;
  std::uint32_t includes;  ///< of the two that exist
  float min_radius_mm, min_FA, max_drift;
};

class Mosaic : public testing::TestWithParam<mosaic_case> {
 protected:
  static const tensor_image& image() {
    static const tensor_image made = mosaic_image();
    return made;
  }
};

TEST_P(Mosaic, AgreesWithTheReference) {
  const mosaic_case& c = GetParam();
  const auto regions = mosaic();
  const auto starts = random_starts(2000, {-0.5, 3, 3}, {35.5, 30, 26}, 21);
  auto settings = rays_along_axes(c.form, c.reading, integrator::rk2, 1.3, 25);
  settings.two_way = c.two_way;
  settings.ordered = c.ordered;
  if (c.min_radius_mm > 0) settings.min_cosine = cosine_on_circle(settings.step_mm, c.min_radius_mm);
  settings.min_FA = c.min_FA;
  settings.max_drift = c.max_drift;
  settings.includes = c.includes;
  settings.targets = c.two_way;
  settings.max_length_mm = 22;
  settings.min_length_mm = 4;
  settings.measure = measure_kind::relative;
  settings.min_measure = 0.75f;
  tracking_case test(two_threads, image(), starts, settings, regions);
  const auto facts = reference_voxel_facts(image(), regions);
  const sampled_reader reader(test.field());

  const score_table got = test.score();

  std::size_t other = 0;
  std::set<int> stops, verdicts;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    const auto expected = score_fibre(reader, facts, starts[f].voxel, starts[f].u, settings);
    stops.insert(int(expected.stops[0]));
    verdicts.insert(int(expected.verdict));
    bool same = got.verdict[f] == std::uint8_t(expected.verdict);
    for (std::size_t ray = 0; ray < 2; ++ray) {
      same = same && got.stops[2 * f + ray] == std::uint8_t(expected.stops[ray]);
      same = same && got.steps[2 * f + ray] == expected.steps[ray];
      same = same && got.regions[2 * f + ray] == std::int32_t(expected.regions[ray]);
    }
    same = same && std::abs(got.length_mm[f] - expected.length_mm) < 1e-4;
    same = same && std::abs(got.mean_FA[f] - expected.mean_FA) < 1e-4;
    same = same && std::abs(got.weakest[f] - expected.weakest) < 1e-3;
    same = same && std::abs(got.measure[f] - expected.measure) < 1e-3;
    if (same) continue;
    ++other;
    ADD_FAILURE() << c.name << ", fibre " << f << ": verdict " << int(got.verdict[f]) << " for "
                  << int(expected.verdict) << ", stops " << int(got.stops[2 * f]) << ' ' << int(got.stops[2 * f + 1])
                  << " for " << int(expected.stops[0]) << ' ' << int(expected.stops[1]) << ", steps "
                  << got.steps[2 * f] << ' ' << got.steps[2 * f + 1] << " for " << expected.steps[0] << ' '
                  << expected.steps[1] << ", regions " << got.regions[2 * f] << ' ' << got.regions[2 * f + 1] << " for "
                  << expected.regions[0] << ' ' << expected.regions[1] << ", length " << got.length_mm[f] << " for "
                  << expected.length_mm << ", mean FA " << got.mean_FA[f] << " for " << expected.mean_FA << ", weakest "
                  << got.weakest[f] << " for " << expected.weakest << ", measure " << got.measure[f] << " for "
                  << expected.measure;
  }
  EXPECT_EQ(other, 0u);
  const auto expect_seen = [&](stop_reason s) { EXPECT_TRUE(stops.contains(int(s))) << "no stop " << int(s); };
  for (const auto s : {stop_reason::exclude, stop_reason::volume, stop_reason::mask, stop_reason::length})
    expect_seen(s);
  if (settings.targets) expect_seen(stop_reason::target);
  if (c.min_radius_mm > 0) expect_seen(stop_reason::curvature);
  if (c.min_FA > 0) expect_seen(stop_reason::FA);
  if (c.max_drift > 0) expect_seen(stop_reason::drift);
  const auto expect_given = [&](verdict v) { EXPECT_TRUE(verdicts.contains(int(v))) << "no verdict " << int(v); };
  for (const auto v : {verdict::accepted, verdict::excluded}) expect_given(v);
  if (c.form != ray_form::streamline) expect_given(verdict::below_measure);
  if (c.includes > 0) expect_given(verdict::include_missed);
  if (settings.targets) expect_given(verdict::no_target);
  if (c.includes == 0 && !settings.targets) expect_given(verdict::too_short);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Mosaic,
    testing::Values(mosaic_case{"hamiltonian", ray_form::hamiltonian, interpolation::bspline, false, false, 0, 0, 0, 0},
                    mosaic_case{"curvature", ray_form::hamiltonian, interpolation::bspline, false, true, 2, 12, 0, 0},
                    mosaic_case{"two ways", ray_form::hamiltonian, interpolation::bspline, true, false, 1, 0, 0.6f, 0},
                    mosaic_case{"drift", ray_form::christoffel, interpolation::trilinear, false, false, 2, 0, 0, 0.05f},
                    mosaic_case{"streamlines", ray_form::streamline, interpolation::trilinear, true, false, 0, 9, 0.62f,
                                0}),
    [](const auto& one) {
      std::string name = one.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

/// Stops before the first step of a ray.
TEST(GeodesicStops, AtTheSeedItself) {
  const sampling_grid grid{{20, 20, 20}, identity3, {}};
  const mat3 D{{{1, 0, 0}, {0, 0.9, 0}, {0, 0, 0.9}}};
  const auto image = sampled(constant_field(D), grid);
  const auto regions = painted(grid, [](long x, long, long) {
    return x < 5 ? 0u : x > 15 ? region::inside | region::exclude : region::inside;
  });
  const std::vector<ray_start> starts{{{3, 10, 10}, {1, 0, 0}}, {{17, 10, 10}, {1, 0, 0}}, {{10, -0.2, 10}, {0, 1, 0}}};
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 0.5, 5);
  const score_table scores = tracking_case(two_threads, image, starts, settings, regions).score();
  EXPECT_EQ(scores.stops[0], std::uint8_t(stop_reason::mask));
  EXPECT_EQ(scores.verdict[0], std::uint8_t(verdict::too_short));
  EXPECT_EQ(scores.stops[2], std::uint8_t(stop_reason::exclude));
  EXPECT_EQ(scores.verdict[1], std::uint8_t(verdict::excluded));
  EXPECT_EQ(scores.stops[4], std::uint8_t(stop_reason::volume));
  EXPECT_EQ(scores.steps, (std::vector<std::uint32_t>(6, 0)));
  EXPECT_EQ(scores.length_mm, (std::vector<float>(3, 0)));

  settings.min_FA = 0.5f;
  const score_table weak = tracking_case(two_threads, image, {{{10, 10, 10}, {1, 0, 0}}}, settings).score();
  EXPECT_EQ(weak.stops[0], std::uint8_t(stop_reason::FA));
  EXPECT_EQ(weak.stops[1], std::uint8_t(stop_reason::none));
}

/// Rings around an axis: streamlines move on circles through their starts.
const helix_field rings(1, 0.2, 0, {30, 30, 0});
std::vector<ray_start> ring_starts() {
  std::vector<ray_start> starts;
  for (int i = 0; i < 20; ++i) starts.push_back({{30 + 3 + 0.5 * i, 30, 10}, {0, 1, 0}});
  return starts;
}

TEST(GeodesicStops, CurvatureOnCirclesTighterThanAllowed) {
  const auto image = sampled(rings, {{61, 61, 21}, identity3, {}});
  auto settings = rays_along_axes(ray_form::streamline, interpolation::bspline, integrator::rk4, 0.5, 20);
  settings.min_cosine = cosine_on_circle(settings.step_mm, 7.25f);
  const score_table scores = tracking_case(two_threads, image, ring_starts(), settings).score();
  for (std::size_t i = 0; i < 20; ++i) {
    const bool tight = 3 + 0.5 * double(i) < 7.25;
    EXPECT_EQ(scores.stops[2 * i], std::uint8_t(tight ? stop_reason::curvature : stop_reason::length)) << i;
    EXPECT_EQ(scores.steps[2 * i], tight ? 1u : 20u) << i;
  }
}

TEST(GeodesicStops, LoopsAfterOneToThreeRounds) {
  const auto image = sampled(rings, {{61, 61, 21}, identity3, {}});
  auto settings = rays_along_axes(ray_form::streamline, interpolation::bspline, integrator::rk4, 0.5, 5000);
  settings.stop_at_loops = true;
  const score_table scores = tracking_case(two_threads, image, ring_starts(), settings).score();
  for (std::size_t i = 0; i < 20; ++i) {
    const double round = 2 * std::numbers::pi * (3 + 0.5 * double(i));
    EXPECT_EQ(scores.stops[2 * i], std::uint8_t(stop_reason::loop)) << i;
    EXPECT_GT(scores.length_mm[i], round - 1) << i;
    EXPECT_LT(scores.length_mm[i], 3 * round + 1) << i;
  }
  settings.stop_at_loops = false;
  settings.max_steps = 2000;
  const score_table on = tracking_case(two_threads, image, ring_starts(), settings).score();
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(on.stops[2 * i], std::uint8_t(stop_reason::length)) << i;
}

/// Rays of a field without closed geodesics are never stopped as loops.
TEST(GeodesicStops, NoFalseLoops) {
  const auto image = sampled(pullback_field(), {{64, 64, 64}, identity3, {}});
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.2, 2000);
  settings.stop_at_loops = true;
  const score_table scores =
      tracking_case(two_threads, image, random_starts(300, {20, 20, 20}, {44, 44, 44}, 3), settings).score();
  for (std::size_t f = 0; f < scores.size(); ++f)
    EXPECT_EQ(scores.stops[2 * f], std::uint8_t(stop_reason::volume)) << f;
}

/// D = (1, 1, c) with c decreasing along x: FA is known in every voxel.
class fading final : public tensor_formula {
 public:
  mat3 D(const vec3& x) const override { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 0.2 + 0.04 * x[0]}}}; }
  mat3_gradient dD(const vec3&) const override { return {}; }
};

TEST(GeodesicStops, FABelowTheCutoff) {
  const sampling_grid grid{{21, 11, 11}, identity3, {}};
  const auto image = sampled(fading(), grid);
  const auto facts = reference_voxel_facts(image, {});
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 0.25, 400);
  settings.min_FA = 0.3f;
  long first_below = 0;
  while (facts.FA[facts.voxel_number({first_below, 5, 5})] >= 0.3) ++first_below;
  ASSERT_GT(first_below, 4);
  const score_table scores = tracking_case(two_threads, image, {{{2, 5, 5}, {1, 0, 0}}}, settings).score();
  EXPECT_EQ(scores.stops[0], std::uint8_t(stop_reason::FA));
  // The last step that counts ends before the face at first_below - 1/2.
  EXPECT_NEAR(scores.length_mm[0], double(first_below) - 0.5 - 2, 0.2501);
}

/// 1 on one side of a face between voxels, and smaller by `drop` on the other.
class cliff final : public tensor_formula {
 public:
  explicit cliff(double drop) : drop_(drop) {}
  mat3 D(const vec3& x) const override { return (x[0] < 9.5 ? 1 : 1 / drop_) * identity3; }
  mat3_gradient dD(const vec3&) const override { return {}; }

 private:
  double drop_;
};

/// A B-spline overshoots a steep decrease of the diffusivity and is negative beyond it: no metric, no ray.
TEST(GeodesicStops, NotANumber) {
  const auto image = sampled(cliff(1e3), {{20, 9, 9}, identity3, {}});
  const auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.25, 10);
  tracking_case test(two_threads, image, {{{10.5, 4, 4}, {0, 1, 0}}, {{4, 4, 4}, {0, 1, 0}}}, settings);
  const sampled_reader reader(test.field());
  ASSERT_LT(reader.at({10.5, 4, 4}).D[0][0], 0);
  const score_table scores = test.score();
  EXPECT_EQ(scores.stops[0], std::uint8_t(stop_reason::numbers));
  EXPECT_EQ(scores.verdict[0], std::uint8_t(verdict::too_short));
  EXPECT_EQ(scores.stops[2], std::uint8_t(stop_reason::length));
}

/// Towards the high side, a ray becomes a hundred times faster within one step, which would skip parts of the field.
/// Towards the low side, steps only become shorter.
TEST(GeodesicStops, StepsThatLeap) {
  const auto image = sampled(cliff(100), {{20, 9, 9}, identity3, {}});
  const auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 0.5, 100);
  const std::vector<ray_start> starts{{{14.1, 4, 4}, {-1, 0, 0}}, {{4.3, 4, 4}, {1, 0, 0}}};
  tracking_case test(two_threads, image, starts, settings);
  const score_table scores = test.score();
  const sampled_reader reader(test.field());
  for (std::size_t f = 0; f < 2; ++f) {
    const auto expected = score_fibre(reader, reference_voxel_facts(image, {}), starts[f].voxel, starts[f].u, settings);
    EXPECT_EQ(scores.stops[2 * f], std::uint8_t(expected.stops[0])) << f;
    EXPECT_EQ(scores.steps[2 * f], expected.steps[0]) << f;
    EXPECT_NEAR(scores.length_mm[f], expected.length_mm, 1e-4) << f;
  }
  EXPECT_EQ(scores.stops[0], std::uint8_t(stop_reason::numbers));
  // From 10.1, the middle of the next step is at 9.85, above the foot.
  EXPECT_NEAR(scores.length_mm[0], 4.0, 1e-4);
  EXPECT_NE(scores.stops[2], std::uint8_t(stop_reason::numbers));
}

}  // namespace
