#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/noddi/reference/noddi_reference.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// The 10th value from both ends of 200 samples is the bound of an interval of 90 %: a further one is between them with
/// a probability of 181 / 201.
constexpr std::size_t samples = 200, lower = 9, upper = 190;

/// Voxels whose parameters are drawn from the prior: 90 % intervals of the posterior contain 90 % of them.
TEST(NoddiCalibration, IntervalsContainTheTruthAsOftenAsTheySay) {
  constexpr int voxels = 600;
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<noddi_parameters> truth = draw_parameters(voxels, 11);
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  s.samples = samples;
  s.burn_in_jumps = 2000;
  s.sample_every = 20;
  const noddi_run run(device{backend::cpu, 2, 0}, g, s, draw_signals(truth, g, 1000.0 / 30, 12));
  const auto coverage = [&](const std::string& output, auto value) {
    int inside = 0;
    for (std::size_t i = 0; i < voxels; ++i) {
      const auto first = run[output + "_samples"].begin() + static_cast<std::ptrdiff_t>(samples * i);
      std::vector<float> sorted(first, first + samples);
      std::sort(sorted.begin(), sorted.end());
      inside += value(truth[i]) >= static_cast<double>(sorted[lower]) &&
                value(truth[i]) <= static_cast<double>(sorted[upper]);
    }
    return static_cast<double>(inside) / voxels;
  };
  // The standard error of a share of 600 voxels is 0.012.
  for (const auto& [name, share] :
       {std::pair<const char*, double>{"NDI", coverage("NDI", [](const auto& p) { return p.ndi; })},
        {"ODI", coverage("ODI", [](const auto& p) { return noddi::odi_of(p.kappa); })},
        {"FWF", coverage("FWF", [](const auto& p) { return p.fwf; })}}) {
    RecordProperty(name, std::to_string(share));
    EXPECT_NEAR(share, 0.9, 0.03) << name;
  }
}

/// A chain with kappa's prior has the mean of one with ODI's whose samples are weighted by the ratio of the priors,
/// d kappa / d ODI.
TEST(NoddiCalibration, ThePriorOfCuDimotIsUniformInKappa) {
  const gradient_table g = noddi_gradients(10, {700, 2000});
  noddi_parameters truth;
  truth.s0 = 1000, truth.fwf = 0.2, truth.kappa = 4;
  noddi::settings s;
  s.samples = 4000;
  s.sample_every = 10;
  const std::vector<float> row = draw_signals({truth}, g, 1000.0 / 15, 3);
  const noddi_run by_odi(one_thread, g, s, row);
  s.prior = noddi::dispersion_prior::kappa;
  const noddi_run by_kappa(one_thread, g, s, row);
  double weights = 0, weighted = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.samples); ++i) {
    const auto odi = static_cast<double>(by_odi["ODI_samples"][i]);
    const double weight = std::abs(noddi::kappa_slope(noddi::kappa_of(odi)));
    weights += weight;
    weighted += weight * odi;
  }
  const auto mean = [](const noddi_run& r) { return static_cast<double>(r["ODI"][0]); };
  const auto sd = static_cast<double>(by_odi["ODI_SD"][0]);
  RecordProperty("ODI", std::to_string(mean(by_odi)));
  RecordProperty("ODI_SD", std::to_string(sd));
  EXPECT_LT(mean(by_kappa), mean(by_odi) - 0.4 * sd);
  EXPECT_NEAR(mean(by_kappa), weighted / weights, 0.15 * sd);
}

/// The same intervals with a Bingham distribution. The standard error of a share of 300 voxels is 0.017; of 1500
/// voxels, with twice as many jumps, the intervals contain 0.894 (NDI, FWF) to 0.912.
TEST(NoddiCalibration, IntervalsOfABinghamDistributionContainTheTruthAsOftenAsTheySay) {
  constexpr std::size_t voxels = 300;
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<bingham_parameters> truth = draw_bingham_parameters(voxels, 21);
  std::vector<float> rows;
  for (std::size_t i = 0; i < voxels; ++i) {
    const std::vector<float> row = draw_bingham_signals(truth[i], g, 1000.0 / 30, static_cast<unsigned>(i));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  s.samples = samples;
  s.burn_in_jumps = 2000;
  s.sample_every = 20;
  const bingham_run run(device{backend::cpu, 2, 0}, g, s, rows);
  const auto expect_covers = [&](const std::string& output, auto value) {
    int inside = 0;
    for (std::size_t i = 0; i < voxels; ++i) {
      const auto first = run[output + "_samples"].begin() + static_cast<std::ptrdiff_t>(samples * i);
      std::vector<float> sorted(first, first + samples);
      std::sort(sorted.begin(), sorted.end());
      inside += value(truth[i]) >= static_cast<double>(sorted[lower]) &&
                value(truth[i]) <= static_cast<double>(sorted[upper]);
    }
    const double share = static_cast<double>(inside) / voxels;
    RecordProperty(output, std::to_string(share));
    EXPECT_NEAR(share, 0.9, 0.045) << output;
  };
  expect_covers("NDI", [](const auto& p) { return p.ndi; });
  expect_covers("FWF", [](const auto& p) { return p.fwf; });
  expect_covers("ODIs", [](const auto& p) { return noddi::odi_of(p.kappa); });
  expect_covers("ODIp", [](const auto& p) { return noddi::odi_of(p.kappa - p.beta); });
  expect_covers("beta_fraction", [](const auto& p) { return p.beta / p.kappa; });
}

}  // namespace
