#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numbers>
#include <sstream>
#include <string>

#include "kernels/perfusion/converter.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_run.hpp"

/// Aorta, portal vein and liver of 19 people (data/perfusion_real: mean signals of regions), from signals to
/// parameters. The agent is gadoxetate, which healthy livers take up; the model does not include uptake. It is adequate
/// if a drug or disease prevents uptake. The README of the data names the cases for which the fit by independent code
/// is plausible.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

constexpr double relaxivity_per_mM_s = 5.3, haematocrit = 0.45;
/// The README's fits: 150 s, starting 15 s before the aorta's upslope.
constexpr double window_s = 150, before_upslope_s = 15;
/// The echoes' steady state and the baseline that were used for the table.
constexpr double steady_s = 10, baseline_s = 60;

using facts = std::map<std::string, double>;

const std::map<std::string, facts>& cases() {
  static const auto all = [] {
    std::map<std::string, facts> rows;
    std::ifstream file(std::string(VOXHERD_DATA) + "/perfusion_real/cases.csv");
    std::string line, cell, name;
    std::getline(file, line);
    std::vector<std::string> columns;
    for (std::istringstream header(line); std::getline(header, cell, ',');) columns.push_back(cell);
    while (std::getline(file, line)) {
      std::istringstream row(line);
      std::getline(row, name, ',');
      for (std::size_t i = 1; i < columns.size() && std::getline(row, cell, ','); ++i)
        rows[name][columns[i]] = cell == "nan" ? 0 : std::strtod(cell.c_str(), nullptr);
    }
    return rows;
  }();
  return all;
}

/// The signals of one person up to the end of the window. Frames before the steady state, and those that the study
/// rejected in the liver, are not counted.
struct patient {
  time_course frames;
  conversion convert;
  std::vector<float> liver;
};

std::vector<double> concentrations(const std::vector<double>& signal, conversion c, double t1_s,
                                   const std::vector<std::uint8_t>& counts) {
  c.t1_s = t1_s;
  const std::vector<float> row(signal.begin(), signal.end());
  std::vector<float> out(row.size());
  const auto done =
      voxel_converter(c, static_cast<int>(row.size()), counts.data())(signal_row{row.data(), 1}, out.data(), 1);
  EXPECT_EQ(done.status, voxel_status::fitted);
  return {out.begin(), out.end()};
}

/// The conversion gives no concentration for uncounted frames: they are interpolated linearly between counted ones.
void bridge(const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts, std::vector<double>& curve) {
  std::size_t last = curve.size();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (counts[i] == 0) continue;
    for (std::size_t j = last == curve.size() ? i : last + 1; j < i; ++j)
      curve[j] = curve[last] + (curve[i] - curve[last]) * (time_s[j] - time_s[last]) / (time_s[i] - time_s[last]);
    last = i;
  }
}

double upslope_s(const column_table& series, double baseline, double peak) {
  const auto &t = series.at("t_s"), &s = series.at("aorta_signal");
  std::size_t i = 0;
  while (t.at(i) < baseline_s || s[i] < baseline + 0.1 * (peak - baseline)) ++i;
  return t[i];
}

patient patient_named(const std::string& name) {
  const facts& f = cases().at(name);
  column_table series = perfusion_data::table("../perfusion_real/cases/" + name + ".csv");
  const double end_s = upslope_s(series, f.at("aorta_base"), f.at("aorta_peak")) - before_upslope_s + window_s;
  std::size_t count = 0;
  while (count < series.at("t_s").size() && series.at("t_s")[count] < end_s) ++count;
  for (auto& [column, values] : series) values.resize(count);

  patient p;
  p.frames.time_s = series.at("t_s");
  std::vector<std::uint8_t> steady;
  for (std::size_t i = 0; i < count; ++i) {
    steady.push_back(p.frames.time_s[i] >= steady_s);
    p.frames.counts.push_back(steady[i] != 0 && series.at("liver_accept")[i] != 0);
    p.convert.baseline_end += p.frames.time_s[i] < baseline_s;
  }
  p.convert.signal = signal_kind::spoiled_echo;
  p.convert.relaxivity_per_mM_s = relaxivity_per_mM_s;
  p.convert.repetition_s = f.at("TR_s");
  p.convert.flip_rad = f.at("FA_deg") * std::numbers::pi / 180;
  p.convert.t1_s = f.at("T1_liver_s");
  const double portal_t1_s = f.at("T1_portal_s") > 0 ? f.at("T1_portal_s") : f.at("T1_aorta_s");
  p.frames.arterial = concentrations(series.at("aorta_signal"), p.convert, f.at("T1_aorta_s"), steady);
  p.frames.portal = concentrations(series.at("portal_signal"), p.convert, portal_t1_s, steady);
  for (auto* curve : {&p.frames.arterial, &p.frames.portal}) {
    bridge(p.frames.time_s, steady, *curve);
    for (double& c : *curve) c /= 1 - haematocrit;
  }
  const auto& liver = series.at("liver_signal");
  p.liver.assign(liver.begin(), liver.end());
  return p;
}

perfusion_run fit(const patient& p) {
  fit_settings s;
  s.starts = 8;
  s.relative_tolerance = 1e-6;
  return {device{backend::cpu, 1, 0}, p.frames, p.liver, s, p.convert};
}

double cost_of(const patient& p, const perfusion_parameters& at) {
  const std::vector<double> signal(p.liver.begin(), p.liver.end());
  return perfusion_cost(p.frames, discretisation_kind::exact, at,
                        concentrations(signal, p.convert, p.convert.t1_s, p.frames.counts));
}

perfusion_parameters fit_of_table(const std::string& name) {
  const facts& f = cases().at(name);
  return kernel_units({f.at("kl"), f.at("ka"), f.at("kp"), f.at("tau_a"), f.at("tau_p")});
}

bool bound_flag(const perfusion_run& r, int parameter) { return (r.at_bound[0] >> parameter & 1) != 0; }

void print(const std::string& name, const perfusion_run& r) {
  const auto p = map_units(r.parameters(0)), sd = r.deviations(0);
  std::printf(
      "%-32s R2 %.3f  kl %.0f +- %.0f  ka %.1f +- %.1f  kp %.1f +- %.1f  tau_a %.1f +- %.1f  tau_p %.1f +- %.1f  "
      "bounds %d\n",
      name.c_str(), r.map(r_squared, 0), p[kl], sd[kl], p[ka], sd[ka], p[kp], sd[kp], p[tau_a], sd[tau_a], p[tau_p],
      sd[tau_p], r.at_bound[0]);
}

class PerfusionReal : public testing::Test {
 protected:
  void SetUp() override {
    if (cases().empty()) GTEST_SKIP() << "no perfusion_real in " << VOXHERD_DATA;
  }
};

TEST_F(PerfusionReal, PlausibleCasesAreFittedWithinPhysiologicalRanges) {
  for (const char* name :
       {"leeds-rifampicin_002_drug", "leeds-rifampicin_007_drug", "leeds_009_control", "sheffield-ciclosporin_006_drug",
        "patients-rifampicin_001_control", "patients-rifampicin_002_control"}) {
    const auto r = fit(patient_named(name));
    ASSERT_EQ(r.status[0], 0) << name;
    print(name, r);
    EXPECT_GT(r.map(r_squared, 0), 0.9) << name;
    EXPECT_GT(r.map(map_kl, 0), 150) << name;
    EXPECT_LT(r.map(map_kl, 0), 650) << name;
    EXPECT_GT(r.map(total_perfusion, 0), 50) << name;
    EXPECT_LT(r.map(total_perfusion, 0), 350) << name;
    EXPECT_LT(r.map(arterial_fraction, 0), 0.3) << name;
    EXPECT_GT(r.map(distribution_volume, 0), 0.1) << name;
    EXPECT_LT(r.map(distribution_volume, 0), 0.6) << name;
    const auto own = map_units(r.parameters(0)), other = map_units(fit_of_table(name)), sd = r.deviations(0);
    for (const std::size_t i : {kl, ka, kp}) EXPECT_LT(std::fabs(own[i] - other[i]), 2 * sd[i]) << name << ' ' << i;
  }
}

/// The cost, by the reference model, of the parameters in the table, which come from another window of the same series.
TEST_F(PerfusionReal, NoFitOfOtherCodeHasALowerCost) {
  for (const auto& [name, f] : cases()) {
    const patient p = patient_named(name);
    const auto r = fit(p);
    ASSERT_EQ(r.status[0], 0) << name;
    const double own = cost_of(p, r.parameters(0));
    EXPECT_NEAR(r.map(sum_of_squares, 0), own, 1e-4 * own) << name;
    EXPECT_LE(own, cost_of(p, fit_of_table(name)) * 1.0001) << name;
  }
}

/// Uptake resembles an outflow that is too slow, and the portal vein's contribution does not fit.
TEST_F(PerfusionReal, HealthyLiversThatTakeUpTheAgentHavePoorFits) {
  for (const auto& [name, f] : cases()) {
    if (!name.ends_with("_control") || name.starts_with("patients") || name == "leeds_009_control") continue;
    const auto r = fit(patient_named(name));
    print(name, r);
    EXPECT_LT(r.map(map_kl, 0), 150) << name;
    if (f.at("kp") < 1e-3) {
      EXPECT_TRUE(bound_flag(r, kp)) << name;
      EXPECT_EQ(r.map(map_kp, 0), 0) << name;
    }
  }
}

TEST_F(PerfusionReal, DelaysAtTheirBoundsAreReported) {
  const fit_settings s;
  int flagged = 0;
  for (const auto& [name, f] : cases()) {
    const auto r = fit(patient_named(name));
    for (const int tau : {tau_a, tau_p}) {
      const auto& rule = s.rules[static_cast<std::size_t>(tau)];
      const double value = r.map(tau == tau_a ? map_tau_a : map_tau_p, 0);
      const bool at_bound = value <= rule.least || value >= rule.most;
      EXPECT_EQ(bound_flag(r, tau), at_bound) << name << ": " << value;
      if (at_bound) {
        EXPECT_EQ(r.map(tau == tau_a ? sd_tau_a : sd_tau_p, 0), 0) << name;
      }
      flagged += at_bound;
    }
  }
  std::printf("%d delays of %zu fits at a bound\n", flagged, cases().size());
  EXPECT_GE(flagged, 4);  // the table has more than ten, with narrower bounds
}

TEST_F(PerfusionReal, RejectedFramesDoNotMatter) {
  patient p = patient_named("leeds-rifampicin_004_drug");
  const auto r = fit(p);
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < p.liver.size(); ++i)
    if (p.frames.counts[i] == 0) p.liver[i] = std::numeric_limits<float>::quiet_NaN(), ++rejected;
  ASSERT_GT(rejected, 0u);
  const auto without = fit(p);
  for (int m = 0; m < map_count; ++m)
    EXPECT_EQ(r.map(static_cast<perfusion::dual_map>(m), 0), without.map(static_cast<perfusion::dual_map>(m), 0)) << m;
}

}  // namespace
