#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "src/io/nifti/nifti.hpp"
#include "src/scan/gradients.hpp"
#include "tests/ballstick/reference/ballstick_case.hpp"
#include "tests/ballstick/reference/ballstick_run.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

const std::string data = VOXHERD_DATA;

/// Columns of a file of comma-separated numbers, by name.
std::map<std::string, std::vector<double>> read_table(const std::string& path) {
  std::ifstream file(path);
  std::string line, cell;
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> table;
  std::getline(file, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');) names.push_back(cell);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    for (const auto& name : names) {
      std::getline(row, cell, ',');
      table[name].push_back(std::stod(cell));
    }
  }
  return table;
}

/// Signals of the voxels with these indices, one row per voxel.
std::vector<float> read_rows(const std::string& path, const std::vector<std::uint64_t>& voxels) {
  const nifti_header header = read_nifti_header(path);
  nifti_reader reader(header);
  const std::size_t volumes = header.volumes;
  const std::uint64_t first = *std::min_element(voxels.begin(), voxels.end());
  const std::uint64_t last = *std::max_element(voxels.begin(), voxels.end());
  std::vector<float> rows(voxels.size() * volumes), part(last - first + 1);
  for (std::size_t volume = 0; volume < volumes; ++volume) {
    reader.read(volume, first, part.size(), part.data());
    for (std::size_t i = 0; i < voxels.size(); ++i) rows[i * volumes + volume] = part[voxels[i] - first];
  }
  return rows;
}

/// Mean over seeds and standard deviation between them, for every voxel.
struct spread_values {
  std::vector<double> mean, sd;
};

/// The program's posterior means for several seeds.
class seeded_runs {
 public:
  seeded_runs(const gradient_table& gradients, const ballstick_settings& s, const std::vector<float>& rows,
              const std::vector<std::uint64_t>& voxels, int seeds) {
    for (int seed = 1; seed <= seeds; ++seed)
      runs_.emplace_back(device{backend::cpu, 1, 0}, gradients, program_settings(s, static_cast<std::uint64_t>(seed)),
                         rows, voxels);
  }

  spread_values operator[](const std::string& field) const {
    const std::size_t n = runs_[0].values(field).size();
    spread_values v{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
    const double seeds = static_cast<double>(runs_.size());
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& run : runs_) v.mean[i] += static_cast<double>(run.values(field)[i]) / seeds;
      for (const auto& run : runs_)
        v.sd[i] += std::pow(static_cast<double>(run.values(field)[i]) - v.mean[i], 2) / (seeds - 1);
      v.sd[i] = std::sqrt(v.sd[i]);
    }
    return v;
  }

  /// Mean axis of a fibre over the seeds, and the mean angle of the runs from it in degrees.
  std::pair<std::array<double, 3>, double> axis(int fibre, std::size_t voxel) const {
    const auto first = runs_[0].direction(fibre, voxel);
    std::array<double, 3> sum{};
    for (const auto& run : runs_) {
      const auto d = run.direction(fibre, voxel);
      const double sign = d[0] * first[0] + d[1] * first[1] + d[2] * first[2] < 0 ? -1 : 1;
      for (std::size_t c = 0; c < 3; ++c) sum[c] += sign * d[c];
    }
    double angle = 0;
    for (const auto& run : runs_) angle += axis_angle(run.direction(fibre, voxel), sum) * 180 / std::numbers::pi;
    return {sum, angle / static_cast<double>(runs_.size())};
  }

 private:
  std::vector<ballstick_run> runs_;
};

/// Counts voxels within 4 standard deviations.
struct agreement {
  int agreeing = 0, all = 0;
  void add(double difference, double sd_a, double sd_b) {
    ++all;
    if (std::abs(difference) <= 4 * std::hypot(sd_a, sd_b)) ++agreeing;
  }
  double share() const { return static_cast<double>(agreeing) / all; }
};

constexpr double supported = 0.05;

class BallstickData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data + "/ballstick_reference")) GTEST_SKIP() << "no data in " << data;
  }

  void compare(const seeded_runs& found, const std::map<std::string, std::vector<double>>& expected) {
    const auto& f2 = expected.at("mean_f2samples_mean");
    for (const std::string name : {"mean_f1", "mean_f2", "mean_d", "mean_S0"}) {
      const spread_values v = found[name];
      agreement a;
      for (std::size_t i = 0; i < f2.size(); ++i) {
        if (name == "mean_f2" && f2[i] <= supported) continue;
        a.add(v.mean[i] - expected.at(name + "samples_mean")[i], v.sd[i], expected.at(name + "samples_sd")[i]);
      }
      EXPECT_GT(a.all, 20) << name;
      EXPECT_GE(a.share(), 0.99) << name << ": " << a.agreeing << " of " << a.all;
      RecordProperty(name, std::to_string(a.agreeing) + " of " + std::to_string(a.all));
    }
    // Where the data do not support a second fibre, its fraction does not converge: it is only small.
    const spread_values v = found["mean_f2"];
    agreement small;
    for (std::size_t i = 0; i < f2.size(); ++i)
      if (f2[i] < 0.01) small.add(v.mean[i] < supported ? 0 : 1, 0, 0);
    EXPECT_GE(small.share(), 0.95) << small.agreeing << " of " << small.all;
  }

  void compare_synthetic(const std::string& folder, const std::string& table, int model, int seeds) {
    const std::string base = data + "/ballstick_reference/";
    const auto expected = read_table(base + table);
    std::vector<std::uint64_t> voxels(expected.at("voxel").size());
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::uint64_t>(expected.at("voxel")[i]);
    const auto header = read_nifti_header(base + folder + "/data.nii.gz");
    const auto gradients = read_gradients(base + folder + "/bvals", base + folder + "/bvecs", header.volumes);
    ballstick_settings s;
    s.model = model;
    compare({gradients, s, read_rows(header.path, voxels), voxels, seeds}, expected);
  }
};

TEST_F(BallstickData, Model1AgreesWithXfibresOnOneShell) { compare_synthetic("k64", "k64_m1_nf2_40seeds.csv", 1, 20); }

TEST_F(BallstickData, Model2AgreesWithXfibresOnTwoShells) {
  compare_synthetic("ms128", "ms128_m2_nf2_8seeds.csv", 2, 12);
}

TEST_F(BallstickData, Model1AgreesWithXfibresOnARealScan) {
  const std::string scan = data + "/philips_32dir_b1000/1201_DT_HIGH_32DIR_SENSE";
  if (!std::filesystem::exists(scan + ".nii.gz")) GTEST_SKIP() << "no scan in " << data;
  const auto expected = read_table(data + "/ballstick_reference/philips_slice32_m1_nf2_10seeds.csv");
  const auto header = read_nifti_header(scan + ".nii.gz");
  std::vector<std::uint64_t> voxels;
  for (std::size_t i = 0; i < expected.at("x").size(); ++i)
    voxels.push_back(
        static_cast<std::uint64_t>(expected.at("x")[i] + 128 * (expected.at("y")[i] + 128 * expected.at("z")[i])));
  const auto gradients = read_gradients(scan + ".bval", scan + ".bvec", header.volumes);
  ballstick_settings s;
  const seeded_runs found(gradients, s, read_rows(header.path, voxels), voxels, 6);
  compare(found, expected);
  for (int k = 0; k < 2; ++k) {
    const std::string name = "dyads" + std::to_string(k + 1);
    agreement a;
    for (std::size_t i = 0; i < voxels.size(); ++i) {
      if (k == 1 && expected.at("mean_f2samples_mean")[i] <= supported) continue;
      const auto [axis, spread] = found.axis(k, i);
      const std::array<double, 3> other{expected.at(name + "_x")[i], expected.at(name + "_y")[i],
                                        expected.at(name + "_z")[i]};
      a.add(axis_angle(axis, other) * 180 / std::numbers::pi, spread, expected.at(name + "_spread_deg")[i]);
    }
    EXPECT_GE(a.share(), 0.99) << name << ": " << a.agreeing << " of " << a.all;
  }
}

}  // namespace
