#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "kernels/perfusion/start_search.hpp"

namespace {

using namespace voxherd::perfusion;
using curve_values = std::vector<double>;

/// A bolus and its broader, later response.
time_course bolus(std::vector<double> time_s) {
  time_course t;
  for (const double s : time_s) {
    t.arterial.push_back(s <= 8 ? 0 : 5 * (s - 8) / 6 * std::exp(1 - (s - 8) / 6) + 0.3);
    t.portal.push_back(s <= 12 ? 0 : 1.4 * (s - 12) / 15 * std::exp(1 - (s - 12) / 15) + 0.2);
  }
  t.counts.assign(time_s.size(), 1);
  t.time_s = std::move(time_s);
  return t;
}

time_course even_bolus(std::size_t frames = 48, double apart_s = 2.37) {
  curve_values time_s(frames);
  for (std::size_t i = 0; i < frames; ++i) time_s[i] = apart_s * static_cast<double>(i);
  return bolus(time_s);
}

time_course uneven_bolus() {
  curve_values time_s;
  for (double s = 3; s < 140; s += s < 50 ? 2.1 : 7.3) time_s.push_back(s);
  return bolus(time_s);
}

curve_values tissue(const time_course& t, const double (&p)[dual_parameters], discretisation_kind how) {
  const curve_values a = unit_curve(t, t.arterial, p[kl], p[tau_a], how),
                     b = unit_curve(t, t.portal, p[kl], p[tau_p], how);
  curve_values c(t.frames());
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = p[ka] * a[i] + p[kp] * b[i];
  return c;
}

double cost(const time_course& t, const std::vector<float>& y, const double (&p)[dual_parameters],
            discretisation_kind how) {
  const curve_values c = tissue(t, p, how);
  double sum = 0;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (t.counts[i] != 0) sum += (static_cast<double>(y[i]) - c[i]) * (static_cast<double>(y[i]) - c[i]);
  return sum;
}

class liver_draw {
 public:
  explicit liver_draw(unsigned seed) : draw_(seed) {}

  /// A voxel in the usual range, CNR 20; one in five has no portal flow.
  std::vector<float> voxel(const time_course& t, discretisation_kind how) {
    const double a = uniform(5, 120), b = uniform(0, 1) < 0.2 ? 0 : uniform(10, 200);
    const double p[dual_parameters] = {(a + b) / uniform(0.12, 0.45) / per_second, a / per_second, b / per_second,
                                       uniform(0, 10), uniform(0, 5)};
    const curve_values c = tissue(t, p, how);
    const double sd = *std::max_element(c.begin(), c.end()) / 20;
    std::vector<float> y(c.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(c[i] + sd * normal_(draw_));
    return y;
  }

 private:
  double uniform(double least, double most) { return std::uniform_real_distribution<double>(least, most)(draw_); }
  std::mt19937 draw_;
  std::normal_distribution<double> normal_;
};

struct start {
  double p[dual_parameters];
};

template <bool FlowsGiven = false>
std::vector<start> found(const start_table& table, const std::vector<float>& y, int starts = start_rates) {
  double to[start_rates * dual_parameters];
  const start_table_view view = table.view();
  start_search<start_rates, FlowsGiven, float>{view}({y.data(), 1}, starts, to, 1);
  std::vector<start> all(static_cast<std::size_t>(starts));
  for (std::size_t s = 0; s < all.size(); ++s) std::copy_n(to + dual_parameters * s, dual_parameters, all[s].p);
  return all;
}

/// The smallest cost of two curves, in double, by trying each active set; a flow `given` >= 0 is kept.
double best_cost(const curve_values& a, const curve_values& b, const std::vector<float>& y,
                 const std::vector<std::uint8_t>& counts, double given_a, double given_b) {
  double aa = 0, ab = 0, bb = 0, ya = 0, yb = 0, yy = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (counts[i] == 0) continue;
    const double v = static_cast<double>(y[i]);
    aa += a[i] * a[i], ab += a[i] * b[i], bb += b[i] * b[i], ya += v * a[i], yb += v * b[i], yy += v * v;
  }
  double best = std::numeric_limits<double>::infinity();
  const auto look = [&](double x, double z) {
    if (!(x >= 0) || !(z >= 0)) return;
    best = std::min(best, yy - 2 * x * ya - 2 * z * yb + x * x * aa + 2 * x * z * ab + z * z * bb);
  };
  const double det = aa * bb - ab * ab;
  if (given_a >= 0 && given_b >= 0) {
    look(given_a, given_b);
  } else if (given_a >= 0) {
    look(given_a, 0), look(given_a, (yb - given_a * ab) / bb);
  } else if (given_b >= 0) {
    look(0, given_b), look((ya - given_b * ab) / aa, given_b);
  } else {
    look(0, 0), look(ya / aa, 0), look(0, yb / bb), look((ya * bb - yb * ab) / det, (yb * aa - ya * ab) / det);
  }
  return best;
}

/// The smallest cost for each kl of the table.
curve_values brute_force(const time_course& t, const fit_settings& s, const start_table& table,
                         const std::vector<float>& y) {
  const start_table_view v = table.view();
  const double given_a = s.rules[ka].fixed ? s.rules[ka].start : -1,
               given_b = s.rules[kp].fixed ? s.rules[kp].start : -1;
  curve_values best(static_cast<std::size_t>(v.rates), std::numeric_limits<double>::infinity());
  for (int r = 0; r < v.rates; ++r)
    for (int i = 0; i < start_arterial_delays; ++i)
      for (int j = start_arterial_delays; j < start_curves; ++j) {
        const curve_values a = unit_curve(t, t.arterial, v.rate_per_s[r], v.delay_s[i], s.discretisation);
        const curve_values b = unit_curve(t, t.portal, v.rate_per_s[r], v.delay_s[j], s.discretisation);
        double& least = best[static_cast<std::size_t>(r)];
        least = std::min(least, best_cost(a, b, y, t.counts, given_a, given_b));
      }
  return best;
}

double squares(const std::vector<float>& y) {
  double sum = 0;
  for (const float v : y) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

/// Every start has a different kl and the smallest cost for it, in ascending order, up to the rounding of float sums.
template <bool FlowsGiven = false>
void expect_best(const time_course& t, const fit_settings& s, unsigned seed) {
  const start_table table(t, s);
  liver_draw draw(seed);
  for (int voxel = 0; voxel < 12; ++voxel) {
    SCOPED_TRACE(voxel);
    const std::vector<float> y = draw.voxel(t, s.discretisation);
    curve_values best = brute_force(t, s, table, y);
    std::sort(best.begin(), best.end());
    const auto starts = found<FlowsGiven>(table, y, table.view().rates);
    std::set<double> rates;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      EXPECT_NEAR(cost(t, y, starts[i].p, s.discretisation), best[i], 2e-6 * squares(y)) << "start " << i;
      rates.insert(starts[i].p[kl]);
    }
    EXPECT_EQ(rates.size(), starts.size());
  }
}

TEST(PerfusionUnitCurve, IsTheIntegralOfTheLinearInput) {
  for (const time_course& t : {even_bolus(), uneven_bolus()})
    for (const double tau_s : {0.0, 1.3, 2.37, 7.9, -1.7}) {
      const double k = 0.07, step_s = 2e-3;
      const double frame_s = t.time_s[1] - t.time_s[0];
      const auto input = [&](double s) {  // s: from the first frame
        const double at = s + t.time_s[0];
        if (s <= -frame_s) return 0.0;
        if (s < 0) return t.arterial[0] * (s + frame_s) / frame_s;
        const auto after = std::upper_bound(t.time_s.begin(), t.time_s.end(), at);
        if (after == t.time_s.end()) return t.arterial.back();
        const auto j = static_cast<std::size_t>(after - t.time_s.begin());
        const double way = (at - t.time_s[j - 1]) / (t.time_s[j] - t.time_s[j - 1]);
        return t.arterial[j - 1] + way * (t.arterial[j] - t.arterial[j - 1]);
      };
      const curve_values g = unit_curve(t, t.arterial, k, tau_s, discretisation_kind::exact);
      for (std::size_t i = 0; i < t.frames(); i += 7) {
        const double end_s = t.time_s[i] - t.time_s[0] - tau_s;
        double sum = 0;
        for (double s = end_s - step_s / 2; s > -frame_s; s -= step_s) sum += input(s) * std::exp(-k * (end_s - s));
        EXPECT_NEAR(g[i], sum * step_s, 1e-3) << "frame " << i << " delay " << tau_s;
      }
    }
}

TEST(PerfusionUnitCurve, OfThePaperSumsTheDelayedInputAtTheFrames) {
  const time_course t = even_bolus(12, 3);
  const double k = 0.05;
  const curve_values g = unit_curve(t, t.arterial, k, 1, discretisation_kind::paper);
  for (std::size_t i = 0; i < t.frames(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      const double before = j > 0 ? t.arterial[j - 1] : 0;
      sum += 3 * (t.arterial[j] + (before - t.arterial[j]) / 3) * std::exp(-k * 3 * static_cast<double>(i - j));
    }
    EXPECT_NEAR(g[i], sum, 1e-12);
  }
}

TEST(PerfusionStart, IsTheBestOfTheDictionary) { expect_best(even_bolus(), fit_settings{}, 1); }

TEST(PerfusionStart, IsTheBestForThePapersDiscretisation) {
  fit_settings s;
  s.discretisation = discretisation_kind::paper;
  expect_best(even_bolus(), s, 2);
}

TEST(PerfusionStart, IsTheBestForUnevenFrames) { expect_best(uneven_bolus(), fit_settings{}, 3); }

TEST(PerfusionStart, IsTheBestIfFramesAreMissing) {
  time_course t = even_bolus();
  for (const std::size_t i : {3, 9, 10, 47}) t.counts[i] = 0;
  expect_best(t, fit_settings{}, 4);
}

TEST(PerfusionStart, SupportsASingleInput) {
  for (const dual_parameter flow : {ka, kp}) {
    fit_settings s;
    s.rules[flow].fixed = true;
    s.rules[flow].start = 0;
    const start_table table(even_bolus(), s);
    EXPECT_FALSE(table.view().flows_given());
    expect_best(even_bolus(), s, 5);
    for (const start& each : found(table, liver_draw(6).voxel(even_bolus(), s.discretisation)))
      EXPECT_EQ(each.p[flow], 0);
  }
}

TEST(PerfusionStart, RespectsGivenFlows) {
  fit_settings one, both;
  one.rules[kp].fixed = both.rules[kp].fixed = both.rules[ka].fixed = true;
  for (const fit_settings& s : {one, both}) {
    const start_table table(even_bolus(), s);
    EXPECT_TRUE(table.view().flows_given());
    expect_best<true>(even_bolus(), s, 7);
    EXPECT_EQ(found<true>(table, liver_draw(6).voxel(even_bolus(), s.discretisation))[0].p[kp], s.rules[kp].start);
  }
}

TEST(PerfusionStart, RespectsFixedRateAndDelays) {
  fit_settings s;
  for (const dual_parameter p : {kl, tau_a, tau_p}) s.rules[p].fixed = true;
  const start_table table(even_bolus(), s);
  EXPECT_EQ(table.view().max_starts(), 1);
  const auto starts = found(table, liver_draw(8).voxel(even_bolus(), s.discretisation), 3);
  for (const start& each : starts)
    for (const dual_parameter p : {kl, tau_a, tau_p}) EXPECT_EQ(each.p[p], s.rules[p].start);
  EXPECT_EQ(starts[2].p[ka], s.rules[ka].start);
  expect_best(even_bolus(), s, 8);
}

TEST(PerfusionStart, IsWithinBounds) {
  fit_settings s;
  s.rules[kl] = {0.03, 0.02, 0.05};
  s.rules[ka] = {0.001, 0.0005, 0.002};
  s.rules[kp] = {0.01, 0.008, 0.012};
  s.rules[tau_a] = {-1, -2, -0.5};
  s.rules[tau_p] = {0.5, 0.2, 0.8};
  const start_table table(even_bolus(), s);
  liver_draw draw(9);
  for (int voxel = 0; voxel < 20; ++voxel)
    for (const start& each : found(table, draw.voxel(even_bolus(), s.discretisation)))
      for (std::size_t p = 0; p < dual_parameters; ++p) {
        EXPECT_GE(each.p[p], s.rules[p].least);
        EXPECT_LE(each.p[p], s.rules[p].most);
      }
}

TEST(PerfusionStart, IsTheFirstOfEqualEntries) {
  const start_table table(even_bolus(), fit_settings{});
  const start_table_view v = table.view();
  const auto starts = found(table, std::vector<float>(48, 0.0f));
  for (int s = 0; s < start_rates; ++s) {
    const auto& p = starts[static_cast<std::size_t>(s)].p;
    EXPECT_FLOAT_EQ(static_cast<float>(p[kl]), v.rate_per_s[s]);
    EXPECT_EQ(p[ka], 0);
    EXPECT_EQ(p[kp], 0);
    EXPECT_FLOAT_EQ(static_cast<float>(p[tau_a]), v.delay_s[0]);
    EXPECT_FLOAT_EQ(static_cast<float>(p[tau_p]), v.delay_s[start_arterial_delays]);
  }
}

TEST(PerfusionStart, FewerStartsAreTheFirstOfMore) {
  const start_table table(even_bolus(), fit_settings{});
  const start_table_view v = table.view();
  liver_draw draw(10);
  for (int voxel = 0; voxel < 20; ++voxel) {
    const auto y = draw.voxel(even_bolus(), discretisation_kind::exact);
    const auto all = found(table, y);
    double one[dual_parameters], three[3 * dual_parameters];
    start_search<1, false, float>{v}({y.data(), 1}, 1, one, 1);
    start_search<3, false, float>{v}({y.data(), 1}, 3, three, 1);
    for (int p = 0; p < dual_parameters; ++p) {
      EXPECT_EQ(one[p], all[0].p[p]);
      for (int s = 0; s < 3; ++s) EXPECT_EQ(three[s * dual_parameters + p], all[static_cast<std::size_t>(s)].p[p]);
    }
  }
}

TEST(PerfusionStart, LanesFindTheStartsOfASingleVoxel) {
  constexpr std::size_t lanes = float_lanes::size();
  const time_course t = even_bolus();
  const start_table table(t, fit_settings{});
  const start_table_view v = table.view();
  liver_draw draw(11);
  std::vector<std::vector<float>> voxels;
  std::vector<float> y(t.frames() * lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    voxels.push_back(draw.voxel(t, discretisation_kind::exact));
    for (std::size_t i = 0; i < t.frames(); ++i) y[i * lanes + l] = voxels[l][i];
  }
  std::vector<double> to(start_rates * dual_parameters * lanes);
  with_start_search<float_lanes>(v, start_rates, [&](const auto& search) {
    search({y.data(), static_cast<int>(lanes)}, start_rates, to.data(), lanes);
  });
  for (std::size_t l = 0; l < lanes; ++l) {
    const auto alone = found(table, voxels[l]);
    for (std::size_t s = 0; s < alone.size(); ++s) {
      double p[dual_parameters];
      for (std::size_t k = 0; k < dual_parameters; ++k) p[k] = to[(dual_parameters * s + k) * lanes + l];
      EXPECT_NEAR(cost(t, voxels[l], p, discretisation_kind::exact),
                  cost(t, voxels[l], alone[s].p, discretisation_kind::exact), 1e-6 * squares(voxels[l]));
    }
  }
}

TEST(PerfusionStart, BeyondTheTablesIsThatOfTheRules) {
  const fit_settings s;
  const start_table table(even_bolus(), s);
  const start_table_view v = table.view();
  const auto y = liver_draw(12).voxel(even_bolus(), discretisation_kind::exact);
  double to[8 * dual_parameters];
  with_start_search<float>(v, 8, [&](const auto& search) { search({y.data(), 1}, 8, to, 1); });
  const auto six = found(table, y);
  for (std::size_t k = 0; k < dual_parameters; ++k) {
    EXPECT_EQ(to[k], six[0].p[k]);
    EXPECT_EQ(to[start_rates * dual_parameters + k], s.rules[k].start);
    EXPECT_EQ(to[7 * dual_parameters + k], s.rules[k].start);
  }
}

}  // namespace
