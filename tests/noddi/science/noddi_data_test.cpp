#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "src/io/nifti/nifti.hpp"
#include "src/scan/gradients.hpp"
#include "tests/noddi/reference/noddi_reference.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

const std::string data = std::string(VOXHERD_DATA) + "/noddi_reference/";

/// The simulated voxels: 20 x 10 x 10, 99 volumes (README of the data).
class NoddiData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data + "sim/bvals")) GTEST_SKIP() << "no reference data";
  }

  static std::vector<float> read(const std::string& name) {
    const nifti_header header = read_nifti_header(data + name);
    nifti_reader reader(header);
    const std::size_t voxels = 2000, volumes = header.volumes;
    std::vector<float> rows(voxels * volumes), part(voxels);
    for (std::size_t v = 0; v < volumes; ++v) {
      reader.read(v, 0, voxels, part.data());
      for (std::size_t i = 0; i < voxels; ++i) rows[i * volumes + v] = part[i];
    }
    return rows;
  }

  static gradient_table gradients() {
    gradient_table g;
    std::ifstream b(data + "sim/bvals"), v(data + "sim/bvecs");
    for (double x = 0; b >> x;) g.b_s_per_mm2.push_back(x);
    for (auto* column : {&g.x, &g.y, &g.z})
      for (std::size_t i = 0; i < g.size(); ++i) {
        double x = 0;
        v >> x;
        column->push_back(x);
      }
    return g;
  }

  static noddi_run fit(const std::string& series, const noddi::settings& s = {}) {
    return {device{backend::cpu, 2, 0}, gradients(), s, read("sim/dwi_" + series + ".nii.gz")};
  }

  /// Mean difference from the truth of the voxels of a group.
  static double bias(const noddi_run& run, const std::string& output, const std::string& truth, float group) {
    const std::vector<float> groups = read("sim/truth_group.nii.gz"), values = read("sim/truth_" + truth + ".nii.gz");
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i] == group) sum += static_cast<double>(run[output][i] - values[i]), ++count;
    return sum / count;
  }
};

/// The best of 180 starts of an independent fit.
TEST_F(NoddiData, FindsTheGlobalOptima) {
  for (const std::string series : {"snrinf", "snr30"}) {
    const noddi_table optima("fits/global_" + series + ".tsv");
    const noddi_run run = fit(series);
    int voxels = 0, good = 0, same = 0;
    for (std::size_t row = 0; row < optima.size(); ++row) {
      if (optima.text(row, "kind") != "least_squares") continue;
      const auto i = static_cast<std::size_t>(optima.number(row, "voxel"));
      const double cost = std::pow(static_cast<double>(run["residual"][i]), 2) * 99;
      ++voxels;
      good += cost < optima.number(row, "objective") * (1 + 1e-4) + 1e-6;
      same += std::abs(static_cast<double>(run["NDI"][i]) - optima.number(row, "ndi")) < 1e-4 &&
              std::abs(static_cast<double>(run["ODI"][i]) - optima.number(row, "odi")) < 1e-4 &&
              std::abs(static_cast<double>(run["FWF"][i]) - optima.number(row, "fwf")) < 1e-4;
    }
    EXPECT_EQ(voxels, 100);
    EXPECT_GE(good, 99) << series;
    EXPECT_GE(same, 99) << series;
  }
}

/// Under Rician noise with a known standard deviation.
TEST_F(NoddiData, FindsTheLargestLikelihood) {
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  s.sigma = 1000.0 / 30;
  const noddi_table optima("fits/global_snr30.tsv");
  const noddi_run run = fit("snr30", s);
  int voxels = 0, same = 0;
  for (std::size_t row = 0; row < optima.size(); ++row) {
    if (optima.text(row, "kind") != "rician_mle") continue;
    const auto i = static_cast<std::size_t>(optima.number(row, "voxel"));
    ++voxels;
    same += std::abs(static_cast<double>(run["NDI"][i]) - optima.number(row, "ndi")) < 1e-3 &&
            std::abs(static_cast<double>(run["ODI"][i]) - optima.number(row, "odi")) < 1e-3 &&
            std::abs(static_cast<double>(run["FWF"][i]) - optima.number(row, "fwf")) < 1e-3;
  }
  EXPECT_EQ(voxels, 100);
  EXPECT_GE(same, 97);
}

/// White matter (group 1) and grey matter (2) at SNR 30; docs/accuracy.md has the table.
TEST_F(NoddiData, HasTheBiasThatTheAccuracyPageStates) {
  const noddi_run least_squares = fit("snr30");
  EXPECT_NEAR(bias(least_squares, "NDI", "ndi", 1), 0.016, 0.002);
  EXPECT_NEAR(bias(least_squares, "FWF", "fwf", 1), 0.012, 0.002);
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  const noddi_run rician = fit("snr30", s);
  for (const float group : {1.0f, 2.0f}) {
    EXPECT_LT(std::abs(bias(rician, "NDI", "ndi", group)), 0.01);
    EXPECT_LT(std::abs(bias(rician, "FWF", "fwf", group)), 0.01);
  }
  EXPECT_LT(std::abs(bias(rician, "ODI", "odi", 1)), 0.01);
  EXPECT_NEAR(bias(rician, "ODI", "odi", 2), -0.036, 0.004);
}

}  // namespace
