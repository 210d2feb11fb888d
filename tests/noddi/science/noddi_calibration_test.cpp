#include <gtest/gtest.h>

#include <algorithm>

#include "tests/noddi/reference/noddi_reference.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// Voxels whose parameters are drawn from the prior: 90 % intervals of the posterior contain 90 % of them.
TEST(NoddiCalibration, IntervalsContainTheTruthAsOftenAsTheySay) {
  constexpr int voxels = 600;
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<noddi_parameters> truth = draw_parameters(voxels, 11);
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  s.samples = 200;
  s.burn_in_jumps = 2000;
  s.sample_every = 20;
  const noddi_run run(device{backend::cpu, 2, 0}, g, s, draw_signals(truth, g, 1000.0 / 30, 12));
  const auto coverage = [&](const std::string& output, auto value) {
    int inside = 0;
    for (std::size_t i = 0; i < voxels; ++i) {
      const auto first = run[output + "_samples"].begin() + static_cast<std::ptrdiff_t>(200 * i);
      std::vector<float> sorted(first, first + 200);
      std::sort(sorted.begin(), sorted.end());
      inside +=
          value(truth[i]) >= static_cast<double>(sorted[10]) && value(truth[i]) <= static_cast<double>(sorted[189]);
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

/// The same with a Bingham distribution. The standard error of a share of 300 voxels is 0.017.
TEST(NoddiCalibration, IntervalsOfABinghamDistributionContainTheTruthAsOftenAsTheySay) {
  constexpr std::size_t voxels = 300, samples = 200;
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
      inside +=
          value(truth[i]) >= static_cast<double>(sorted[10]) && value(truth[i]) <= static_cast<double>(sorted[189]);
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
