#include <gtest/gtest.h>

#include <cmath>

#include "tests/ballstick/reference/ballstick_case.hpp"
#include "tests/ballstick/reference/ballstick_run.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// Simulation-based calibration (Talts et al. 2018, arXiv:1804.06788): if truths are drawn from the prior and data from
/// the truths, then the rank of a truth among its posterior samples is uniform, provided that the sampler draws from
/// the posterior.
///
/// The program's priors of d (uniform up to 0.005 mm2/s), fractions (uniform where their sum is below 1, without
/// relevance priors) and directions (uniform on the sphere) are proper. Those of S0 (flat from 0) and of the noise
/// (flat in log tau, integrated out; under Rician noise flat in tau) are not. Truths are drawn from these priors
/// truncated to a range. The posterior under a truncated prior is the program's posterior truncated to the same range:
/// samples outside it are dropped, which is exact. Under Gaussian noise tau is first drawn for each sample from its
/// conditional distribution, Gamma(K/2, SSE/2).
class calibration {
 public:
  explicit calibration(const ballstick_settings& s) : settings_(s) {
    // Samples must be nearly independent for ranks to be uniform. Two fibres that may exchange roles need more jumps.
    settings_.sample_every = settings_.fibres == 1 ? 80 : 300;
    settings_.burn_in = settings_.fibres == 1 ? 3000 : 6000;
    settings_.jumps = 31 * settings_.sample_every;
  }

  /// Data sets with all posterior samples outside the truncated prior: their rank, one of one, is uniform but carries
  /// no information.
  int data_sets_without_samples() const { return without_samples_; }

  /// Chi-square of the rank histograms with 19 degrees of freedom, by quantity.
  std::vector<std::pair<std::string, double>> operator()(const ballstick_settings& of_program) {
    ballstick_settings s = settings_;
    s.ard = of_program.ard;
    std::vector<ballstick_parameters> truths;
    std::vector<float> rows;
    std::vector<std::uint64_t> voxels;
    for (std::size_t i = 0; i < data_sets; ++i) {
      truths.push_back(draw_truth());
      const auto signals = noisy_signals(settings_, truths[i], gradients_, 1 / std::sqrt(truths[i].tau), random_);
      rows.insert(rows.end(), signals.begin(), signals.end());
      voxels.push_back(i);
    }
    const ballstick_run run({backend::cpu, 1, 0}, gradients_, program_settings(s, 5), rows, voxels);
    std::vector<std::vector<int>> histogram(quantities(truths[0]).size(), std::vector<int>(bins, 0));
    for (std::size_t i = 0; i < data_sets; ++i) add_ranks(run, i, truths[i], rows, histogram);
    std::vector<std::pair<std::string, double>> result;
    for (std::size_t q = 0; q < histogram.size(); ++q)
      result.emplace_back(quantities(truths[0])[q].first, chi_square(histogram[q]));
    return result;
  }

 private:
  static constexpr std::size_t data_sets = 700, bins = 20;
  static constexpr double min_s0 = 800, max_s0 = 1200, min_sigma = 20, max_sigma = 40;

  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }

  bool within_range(const ballstick_parameters& p) const {
    return p.s0 >= min_s0 && p.s0 <= max_s0 && p.tau >= std::pow(max_sigma, -2) && p.tau <= std::pow(min_sigma, -2);
  }

  ballstick_parameters draw_truth() {
    ballstick_parameters p;
    p.s0 = uniform(min_s0, max_s0);
    p.d = uniform(0, 0.005);
    const double min_tau = std::pow(max_sigma, -2), max_tau = std::pow(min_sigma, -2);
    p.tau = settings_.rician ? uniform(min_tau, max_tau) : std::exp(uniform(std::log(min_tau), std::log(max_tau)));
    double sum;
    do {
      sum = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(settings_.fibres); ++k) sum += p.f[k] = uniform(0, 1);
    } while (sum > 1);
    for (std::size_t k = 0; k < static_cast<std::size_t>(settings_.fibres); ++k) {
      p.th[k] = std::acos(uniform(-1, 1));
      p.ph[k] = uniform(-std::numbers::pi, std::numbers::pi);
    }
    return p;
  }

  /// Quantities that do not change if fibres are exchanged or directions reversed.
  std::vector<std::pair<std::string, double>> quantities(const ballstick_parameters& p) const {
    std::vector<std::pair<std::string, double>> q{{"S0", p.s0}, {"d", p.d}, {"tau", p.tau}};
    if (settings_.fibres == 1) {
      const auto x = fibre_direction(p, 0);
      q.insert(q.end(), {{"f", p.f[0]}, {"|x|", std::abs(x[0])}, {"|z|", std::abs(x[2])}});
    } else {
      q.insert(q.end(), {{"sum of f", p.f[0] + p.f[1]}, {"largest f", std::max(p.f[0], p.f[1])}});
    }
    return q;
  }

  void add_ranks(const ballstick_run& run, std::size_t item, const ballstick_parameters& truth,
                 const std::vector<float>& rows, std::vector<std::vector<int>>& histogram) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(item * gradients_.size());
    const std::vector<double> signals(first, first + static_cast<std::ptrdiff_t>(gradients_.size()));
    const auto truths = quantities(truth);
    std::vector<int> below(truths.size(), 0);
    int kept = 0;
    for (std::size_t i = 0; i < 31; ++i) {
      ballstick_parameters p = run.sample(item, i);
      if (!settings_.rician) {
        const double sse = sum_of_squares(signals, ballstick_signals(settings_, p, gradients_));
        p.tau = std::gamma_distribution<double>(static_cast<double>(signals.size()) / 2, 2 / sse)(random_);
      }
      if (!within_range(p)) continue;
      ++kept;
      const auto values = quantities(p);
      for (std::size_t q = 0; q < values.size(); ++q) below[q] += values[q].second < truths[q].second ? 1 : 0;
    }
    if (kept == 0) ++without_samples_;
    // The rank is one of kept + 1 values; a uniform random part of a step makes it continuous for any `kept`.
    for (std::size_t q = 0; q < truths.size(); ++q) {
      const double place = (below[q] + uniform(0, 1)) / (kept + 1);
      ++histogram[q][std::min(static_cast<std::size_t>(place * bins), bins - 1)];
    }
  }

  static double chi_square(const std::vector<int>& histogram) {
    const double expected = static_cast<double>(data_sets) / bins;
    double sum = 0;
    for (const int count : histogram) sum += (count - expected) * (count - expected) / expected;
    return sum;
  }

  ballstick_settings settings_;
  gradient_table gradients_ = spiral_shells(4, 30, {1000, 3000});
  std::mt19937_64 random_{2024};
  int without_samples_ = 0;
};

/// Chi-square with 19 degrees of freedom exceeds this with probability 1e-4.
constexpr double limit = 50.8;

void expect_uniform_ranks(int fibres, bool rician) {
  ballstick_settings s;
  s.fibres = fibres;
  s.rician = rician;
  s.ard = ard_fibres::none;
  calibration calibrate(s);
  for (const auto& [name, chi_square] : calibrate(s)) EXPECT_LT(chi_square, limit) << name;
  EXPECT_LE(calibrate.data_sets_without_samples(), 14);
}

TEST(BallstickCalibration, RanksAreUniformForOneFibre) { expect_uniform_ranks(1, false); }

TEST(BallstickCalibration, RanksAreUniformForTwoFibres) { expect_uniform_ranks(2, false); }

TEST(BallstickCalibration, RanksAreUniformUnderRicianNoise) { expect_uniform_ranks(1, true); }

TEST(BallstickCalibration, RanksAreNotUniformIfTheTruthsHaveADifferentPrior) {
  ballstick_settings s;
  s.fibres = 1;
  s.ard = ard_fibres::none;
  ballstick_settings shrinking = s;
  shrinking.ard = ard_fibres::all;
  for (const auto& [name, chi_square] : calibration(s)(shrinking)) {
    if (name == "f") {
      EXPECT_GT(chi_square, limit);
    }
  }
}

}  // namespace
