#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ballstick/ballstick.hpp"
#include "tests/ballstick/reference/ballstick_reference.hpp"

namespace voxherd::reference {

/// The program's settings for the reference's settings.
ballstick::settings program_settings(const ballstick_settings& s, std::uint64_t seed);

/// All results of the program for a batch, by field name, item after item.
class ballstick_run {
 public:
  /// `voxels`: one key of the random numbers per item. rows.size() = voxels.size() x K, or x (K + 9) with gradient
  /// deviations.
  ballstick_run(const device& d, const gradient_table& gradients, const ballstick::settings& s,
                const std::vector<float>& rows, const std::vector<std::uint64_t>& voxels);

  /// "mean_f1", "dyads1", "th1", ...
  const std::vector<float>& values(const std::string& name) const;
  std::array<double, 3> direction(int fibre, std::size_t item) const;
  /// Sample `index` of item `item`, in the reference's format.
  ballstick_parameters sample(std::size_t item, std::size_t index) const;

 private:
  ballstick::settings settings_;
  std::vector<output_spec> outputs_;
  std::vector<std::vector<float>> values_;
};

/// The start of a voxel's chain in the program.
ballstick_parameters program_start(const ballstick::settings& s, const gradient_table& gradients,
                                   const std::vector<float>& signals);

/// The reference then uses the program's random numbers for this seed and voxel.
draw_source program_draws(const ballstick::settings& s, std::uint64_t voxel);

/// A voxel's first jumps, with the program's random numbers, must be those of the reference: the same proposals and the
/// same decisions. Rounding makes chains diverge only later. `directions`: per shell, for three shells.
void expect_same_first_jumps(const device& d, const ballstick_settings& s, int directions = 45);

/// Rows with a gradient deviation must give the results of plain rows with the deviated gradient table.
void expect_deviation_is_another_table(const device& d, int directions);

/// Voxels of one, two and three fibres, sampled with each number of fibres: gains are those of the reference's
/// likelihood of the samples, and the results are those of the number that they choose.
void expect_fibres_by_odds(const device& d, bool rician);

/// The paper's protocol: posterior means of many repeats of three voxels, compared between `a` and `b` by a two-sample
/// Kolmogorov-Smirnov test for each quantity.
struct repeated_means {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< one per name, a number per repeat
};
struct repeat_protocol {
  ballstick_settings settings;
  gradient_table gradients;
  std::vector<std::vector<float>> voxels;
  std::vector<ballstick_parameters> truths;
  int repeats;
};
repeat_protocol three_voxels(int repeats);
repeated_means repeats_of_program(const device& d, const repeat_protocol& p, std::size_t voxel, std::uint64_t seed);
repeated_means repeats_of_reference(const repeat_protocol& p, std::size_t voxel, std::uint64_t seed);

/// Probability of at least this distance between two samples of the same distribution (asymptotic: Smirnov 1948, with
/// Stephens' correction 1970).
double kolmogorov_smirnov_probability(std::vector<double> a, std::vector<double> b);

}  // namespace voxherd::reference
