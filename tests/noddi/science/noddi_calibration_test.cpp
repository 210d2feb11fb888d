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

}  // namespace
