#include "tests/perfusion/reference/perfusion_claims.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/perfusion/reference/perfusion_case.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_reference_fit.hpp"
#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"

namespace voxherd::reference {

using namespace perfusion;

namespace {

/// The 150 noisy voxels, as numbers and as rows of floats.
struct stored_voxels {
  explicit stored_voxels(const std::string& model) {
    const auto curves = perfusion_data::table("curves_150_" + model + ".csv");
    for (std::size_t v = 0; v < perfusion_data::voxels; ++v) samples.push_back(perfusion_data::voxel(curves, v));
  }
  perfusion_run fit(const device& d, const fit_settings& s) const { return {d, frames, rows_of(samples), s}; }

  time_course frames = perfusion_data::frames("Nt128");
  std::vector<std::vector<double>> samples;
};

double largest_relative(const perfusion_parameters& a, const perfusion_parameters& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]) / std::fabs(b[i]));
  return most;
}

/// For voxel 0, without noise, the global minimum is 7e-24: a relative tolerance is meaningless.
constexpr std::size_t first_noisy = 1;

}  // namespace

void expect_independent_simplex(const device& d, discretisation_kind how) {
  const std::string model = how == discretisation_kind::paper ? "rect" : "pwl";
  const stored_voxels voxels(model);
  const auto fits = perfusion_data::table("fit_nm_" + model + ".csv");
  fit_settings s = standard_settings(solver_kind::simplex);
  s.discretisation = how;
  const auto run = voxels.fit(d, s);
  std::size_t same = 0;
  for (std::size_t v = 0; v < perfusion_data::voxels; ++v) {
    SCOPED_TRACE(testing::Message() << "voxel " << v);
    const auto iterations = static_cast<int>(run.iterations[v]);
    if (iterations == fits.at("iterations")[v]) {
      ++same;
      EXPECT_EQ(run.exit_code[v], fits.at("flag_0conv_1maxit")[v]);
      if (run.exit_code[v] == 0) {
        EXPECT_LT(largest_relative(run.parameters(v), perfusion_data::parameters(fits, v)), 1e-3);
      }
      continue;
    }
    const auto y = as_floats(voxels.samples[v]);
    const auto cost = [&](const perfusion_parameters& p) { return perfusion_cost(voxels.frames, how, p, y); };
    const auto expected = nelder_mead(cost, paper_start());
    EXPECT_EQ(iterations, expected.iterations);
    if (expected.converged) {
      EXPECT_LT(largest_relative(run.parameters(v), expected.best), 1e-3);
    }
  }
  EXPECT_GE(same, 145U);
}

void expect_global_minima(const device& d, fit_settings s, double excess, double error) {
  const stored_voxels voxels("pwl");
  const auto reference_fits = perfusion_data::table("fit_gold_pwl.csv");
  s.rules[tau_a].most = 10;  // the reference data's bound
  const auto run = voxels.fit(d, s);
  const std::array<std::string, dual_parameters> names{"kl", "ka", "kp", "tau_a", "tau_p"};
  std::size_t compared = 0;
  for (std::size_t v = first_noisy; v < perfusion_data::voxels; ++v) {
    SCOPED_TRACE(testing::Message() << "voxel " << v);
    const double cost = perfusion_cost(voxels.frames, s.discretisation, run.parameters(v), voxels.samples[v]);
    EXPECT_LE(cost, (1 + excess) * reference_fits.at("cost")[v]);
    if (run.at_bound[v] != 0 || cost > (1 + excess) * reference_fits.at("cost")[v]) continue;
    ++compared;
    const auto sd = run.deviations(v), p = map_units(run.parameters(v));
    // A standard deviation changes with the position relative to a parameter, for example as 1 / flow.
    double vague = 1;
    for (std::size_t i = 0; i < sd.size(); ++i)
      vague = std::fmax(vague, reference_fits.at("se_" + names[i])[v] / std::fabs(reference_fits.at(names[i])[v]));
    for (std::size_t i = 0; i < sd.size(); ++i) {
      const double expected = reference_fits.at("se_" + names[i])[v];
      EXPECT_NEAR(p[i], reference_fits.at(names[i])[v], error * expected) << names[i];
      EXPECT_NEAR(sd[i], expected, error * vague * expected) << names[i];
    }
  }
  EXPECT_GT(compared, 130U);
}

void expect_rules_kept(const device& d, solver_kind solver) {
  const stored_voxels voxels("pwl");
  const auto truth = perfusion_data::table("truth_150.csv");
  const auto fixed_at = [](perfusion_rules rules, std::size_t i, double value) {
    rules[i].fixed = true;
    rules[i].start = value;
    return rules;
  };
  const perfusion_rules plain = quality_settings(solver).rules;
  perfusion_rules tight = plain;
  tight[kl].most = 390 / perfusion::per_second, tight[kl].start = 300 / perfusion::per_second;
  tight[tau_p].least = 2.4;
  perfusion_rules beside = tight;
  const perfusion_parameters near_it = kernel_units({390 * (1 - 1e-9), 20.6, 97.1, 1.07, 2.4 * (1 + 1e-9)});
  for (std::size_t i = 0; i < near_it.size(); ++i) beside[i].start = near_it[i];
  const std::vector<std::pair<const char*, perfusion_rules>> cases{
      {"tau_p fixed", fixed_at(plain, tau_p, 2)},
      {"both delays fixed", fixed_at(fixed_at(plain, tau_p, 2), tau_a, 1)},
      {"kl and ka fixed", fixed_at(fixed_at(plain, kl, 400 / perfusion::per_second), ka, 20 / perfusion::per_second)},
      {"one input", fixed_at(fixed_at(plain, ka, 0), tau_a, 0)},
      {"tight bounds", tight},
      {"a start beside the bounds", beside}};
  for (const auto& [name, rules] : cases) {
    fit_settings s = quality_settings(solver);
    s.rules = rules;
    // One of our starts finds the minimum for the paper's physiology; random physiology has several minima.
    const bool own_start = std::string(name) == "a start beside the bounds";
    s.starts = own_start ? 0 : 1;
    const auto run = voxels.fit(d, s);
    const global_search search(voxels.frames, s.discretisation, rules);
    for (std::size_t v = first_noisy; v < (own_start ? 100U : 150U); v += 7) {
      SCOPED_TRACE(testing::Message() << name << ", voxel " << v);
      const auto p = run.parameters(v);
      for (std::size_t i = 0; i < p.size(); ++i) {
        // Maps are floats.
        const double rounding = 1e-7 * std::fabs(p[i]);
        if (rules[i].fixed) {
          EXPECT_NEAR(p[i], rules[i].start, rounding);
          EXPECT_EQ(run.deviations(v)[i], 0);
        } else {
          EXPECT_GE(p[i], rules[i].least - rounding);
          EXPECT_LE(p[i], rules[i].most + rounding);
        }
      }
      const auto& y = voxels.samples[v];
      EXPECT_LE(perfusion_cost(voxels.frames, s.discretisation, p, y), 1.0001 * search(y, 3).cost);
    }
  }
}

void expect_bounded_simplex(const device& d) {
  const stored_voxels voxels("pwl");
  fit_settings s = standard_settings(solver_kind::simplex);
  std::size_t beyond = 0;
  for (const bool bounded : {false, true}) {
    s.bounded = bounded;
    const auto run = voxels.fit(d, s);
    for (std::size_t v = 0; v < perfusion_data::voxels; ++v) {
      const auto p = run.parameters(v);
      bool within = true;
      for (std::size_t i = 0; i < p.size(); ++i)
        within = within && p[i] >= s.rules[i].least * (1 - 1e-7) && p[i] <= s.rules[i].most * (1 + 1e-7);
      beyond += within ? 0 : 1;
      if (!bounded) continue;
      EXPECT_TRUE(within) << "voxel " << v;
      EXPECT_LE(perfusion_cost(voxels.frames, s.discretisation, p, voxels.samples[v]),
                perfusion_cost(voxels.frames, s.discretisation, paper_start(), voxels.samples[v]));
    }
    if (!bounded) {
      EXPECT_GT(beyond, 20U);
    }
  }
}

}  // namespace voxherd::reference
