#include "tests/perfusion/reference/perfusion_map_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/perfusion/reference/perfusion_reference_fit.hpp"

namespace voxherd::reference {

using namespace perfusion;

bool is_near_frame(const time_course& f, const perfusion_parameters& p) {
  if (f.spacing_s() == 0) return false;
  const double a = p[tau_a] / f.spacing_s(), b = p[tau_p] / f.spacing_s();
  return std::fabs(a - std::round(a)) < 1e-3 || std::fabs(b - std::round(b)) < 1e-3;
}

namespace {

/// All values that maps contain, at the point where a fit ended.
class map_comparison {
 public:
  map_comparison(const perfusion_case& c, const fit_settings& s, const perfusion_run& run, std::size_t v)
      : c_(c), s_(s), run_(run), v_(v), p_(run.parameters(v)), y_(c.samples(v)) {
    cost_ = perfusion_cost(c.frames, s.discretisation, p_, y_);
  }

  void compare() const {
    const bool single = s_.precision == precision_kind::float32;
    // A residual is the difference of two numbers of the size of the peak: their rounding errors, relative to CNR 30.
    if (cost_ > 1e38) return;  // error growth of a linear fit, beyond a map's float rounding
    const double cost_error = (single ? 2e-4 : 1e-5) + rounding_of_place() / cost_;
    EXPECT_NEAR(run_.map(sum_of_squares, v_), cost_, cost_error * cost_);
    double mean = 0, about = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) mean += counts(i) * y_[i] / static_cast<double>(c_.frames.counted());
    for (std::size_t i = 0; i < y_.size(); ++i) about += counts(i) * (y_[i] - mean) * (y_[i] - mean);
    EXPECT_NEAR(run_.map(r_squared, v_), 1 - cost_ / about, cost_error * cost_ / about + 1e-6);
    compare_derived();
    compare_bounds();
    // A column of J in float has four rounding errors per frame, which add in quadrature; an element of J'J has those
    // of two columns; five elements per row, and half of that for the square root. In double only the position is
    // rounded, to a map's float.
    if (!at_kink() && !has_delay_beyond_series())
      compare_deviations(single ? 2 * 48 * std::sqrt(4) * 6e-8 * 5 / 2 : 1e-9, cost_error);
  }

 private:
  double counts(std::size_t i) const { return c_.frames.counts[i]; }

  void compare_derived() const {
    const double a = p_[ka] * perfusion::per_second, p = p_[kp] * perfusion::per_second, flow = a + p;
    const double rounding = 3e-7 * (std::fabs(a) + std::fabs(p));
    EXPECT_NEAR(run_.map(total_perfusion, v_), flow, rounding);
    if (std::fabs(flow) > 1e-3) {
      EXPECT_NEAR(run_.map(arterial_fraction, v_), a / flow, rounding / std::fabs(flow) * (1 + std::fabs(a / flow)));
    }
    EXPECT_NEAR(run_.map(distribution_volume, v_) * p_[kl] * perfusion::per_second, flow, rounding);
    EXPECT_NEAR(run_.map(mean_transit_time, v_) * p_[kl], 1, 3e-7);
    EXPECT_EQ(run_.map(t1_before, v_), 0);
    EXPECT_EQ(run_.map(baseline_signal, v_), 0);
  }

  /// Bounds and positions are floats in other units: "at a bound" means within rounding.
  bool at_bound(std::size_t i) const {
    const auto& r = s_.rules[i];
    return s_.bounded && !r.fixed && (p_[i] <= r.least * (1 + 1e-7) || p_[i] >= r.most * (1 - 1e-7));
  }

  void compare_bounds() const {
    for (std::size_t i = 0; i < dual_parameters; ++i) EXPECT_EQ(run_.at_bound[v_] >> i & 1, at_bound(i)) << i;
  }

  /// Effect of rounding the position to a map's floats on the cost, away from a minimum.
  double rounding_of_place() const {
    const auto jacobian = perfusion_jacobian(c_.frames, s_.discretisation, p_);
    const auto curve = perfusion_curve(c_.frames, s_.discretisation, p_);
    double change = 0;
    for (std::size_t i = 0; i < dual_parameters; ++i) {
      double slope = 0;
      for (std::size_t f = 0; f < y_.size(); ++f) slope += counts(f) * jacobian[i][f] * (y_[f] - curve[f]);
      change += std::fabs(2 * slope * 1.2e-7 * p_[i]);
    }
    return change;
  }

  /// The paper's curve has no derivative with respect to a delay of complete frames.
  bool at_kink() const { return s_.discretisation == discretisation_kind::paper && is_near_frame(c_.frames, p_); }

  /// A delay longer than the series is replaced by that length: its derivative is meaningless.
  bool has_delay_beyond_series() const {
    const double length = c_.frames.time_s.back() - c_.frames.time_s.front();
    return std::fabs(p_[tau_a]) >= length || std::fabs(p_[tau_p]) >= length;
  }

  /// The rounding error of J'J is amplified by the largest inflation of a variance, (J'J)_ii (J'J)^-1_ii.
  void compare_deviations(double rounding, double cost_error) const {
    std::array<bool, dual_parameters> held{};
    for (std::size_t i = 0; i < dual_parameters; ++i) held[i] = s_.rules[i].fixed || at_bound(i);
    // If a flow is zero, its delay has no influence.
    held[tau_a] = held[tau_a] || p_[ka] == 0;
    held[tau_p] = held[tau_p] || p_[kp] == 0;
    const auto expected = map_units(standard_deviations(c_.frames, s_.discretisation, p_, cost_, held));
    const auto inverse = inverse_information(c_.frames, s_.discretisation, p_, held);
    const auto jacobian = perfusion_jacobian(c_.frames, s_.discretisation, p_);
    double inflation = 1;
    for (std::size_t i = 0; i < dual_parameters; ++i) {
      double length = 0;
      for (std::size_t f = 0; f < y_.size(); ++f) length += counts(f) * jacobian[i][f] * jacobian[i][f];
      if (!held[i]) inflation = std::fmax(inflation, length * inverse[i][i]);
    }
    // Missing information about one parameter affects all: a curve that follows an input immediately has no kl.
    for (const double e : expected)
      if (!std::isfinite(e)) return;
    const auto sd = run_.deviations(v_);
    for (std::size_t i = 0; i < dual_parameters; ++i) {
      if (held[i]) {
        EXPECT_EQ(sd[i], 0) << i;
      } else if (rounding * inflation < 0.1) {
        EXPECT_NEAR(sd[i], expected[i], (rounding * inflation + cost_error) * expected[i])
            << i << ", inflation " << inflation;
      }
    }
  }

  const perfusion_case& c_;
  const fit_settings& s_;
  const perfusion_run& run_;
  std::size_t v_;
  perfusion_parameters p_;
  std::vector<double> y_;
  double cost_;
};

void expect_nothing(const perfusion_run& run, std::size_t v) {
  for (const auto& map : run.maps) EXPECT_EQ(map[v], 0);
  EXPECT_EQ(run.iterations[v], 0U);
  EXPECT_EQ(run.at_bound[v], 0);
}

}  // namespace

void expect_maps_of_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run) {
  for (std::size_t v = 0; v < c.count; ++v) {
    SCOPED_TRACE(testing::Message() << "voxel " << v);
    ASSERT_EQ(run.status[v], expected_status(v));
    if (run.status[v] != 0)
      expect_nothing(run, v);
    else
      map_comparison(c, s, run, v).compare();
    if (testing::Test::HasFailure()) return;
  }
}

void expect_same_ends(const perfusion_run& a, const perfusion_run& b, const fit_settings& s) {
  const bool single = s.precision == precision_kind::float32;
  // In single precision a cost has only as many digits as the simplex's tolerance, and the slope at a kink depends on
  // rounding: measured between a GPU and a CPU, 71 to 75 % and 97 % of voxels end at the same point.
  const double part = single ? 0.1 : 1e-3;
  const double share = !single ? 0.985 : s.solver == solver_kind::simplex ? 0.65 : 0.95;
  ASSERT_EQ(a.voxels(), b.voxels());
  std::size_t fitted = 0, same = 0;
  for (std::size_t v = 0; v < a.voxels(); ++v) {
    ASSERT_EQ(a.status[v], b.status[v]) << "voxel " << v;
    if (a.status[v] != 0) continue;
    for (const auto which : {t1_before, baseline_signal})
      EXPECT_NEAR(a.map(which, v), b.map(which, v), 1e-6 * std::fabs(b.map(which, v))) << "voxel " << v;
    const auto p = map_units(a.parameters(v)), q = map_units(b.parameters(v)), sd = b.deviations(v);
    bool near = true;
    for (std::size_t i = 0; i < p.size(); ++i)
      near = near && std::fabs(p[i] - q[i]) <= part * sd[i] + 3e-7 * std::fabs(q[i]);
    ++fitted;
    same += near ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(same), share * static_cast<double>(fitted)) << same << " of " << fitted;
}

}  // namespace voxherd::reference
