#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "tests/connect/reference/connect_cases.hpp"

namespace voxherd::bench {

/// A field of S, the starts of fronts in it, and what is known about their arrival times.
struct connect_volume {
  std::string name;
  reference::connect_case of;
  std::vector<double> exact;  ///< arrival times of the mask's voxels; empty where there is no closed form
  connect::start_list starts;
  connect::region_list regions;  ///< regions of a brain in which its fronts start
};

/// Volumes by name; only the last one is kept. Those with a side n are from tests/connect/reference/connect_cases.hpp
/// with n^3 voxels, and exact values in a ball of n / 32 voxels.
/// const/n: 1 on the diagonal of S, 0.9 off it (Jeong 2007, example 1: n = 64)
/// tilted/n: constant, ratio of eigenvalues 100 along (1, 2, 3)
/// half_space/n: S = ((z + 8) / 32)^2 I
/// pullback/n: ratio 14 to 22, axes rotate with the position
/// helix/r: 64^3, ratio r along helices (Jeong 2007, example 2: r = 10,000); a ball of 2 voxels
/// brain/k: the folded sheet of connect_brain.hpp, k fronts from as many regions
/// philips/k: the brain of brain.hpp, metric jeong with alpha 3 and a ratio of at most 100, k fronts from single voxels
/// of its white matter; throws no_data without it
std::shared_ptr<const connect_volume> connect_volume_named(const std::string& name);

/// Only the first front of a list.
connect::start_list first_front(const connect::start_list& all);

/// Sum of errors over the sum of exact arrival times.
double relative_L1(const connect_volume& v, const std::vector<float>& arrivals);

/// Arrival time over the exact one at the last voxel inside on the fibre through the source of const and tilted.
double over_exact_along_fibre(const connect_volume& v, const std::vector<float>& arrivals);

/// Arrival times at 1/4, 1/2 and 1 turn along the helix through the source, over the path length: at most 1 and, for a
/// large ratio, near 1 if the scheme were exact.
std::array<double, 3> over_helix_length(const connect_volume& v, const std::vector<float>& arrivals);

/// Adds what is known of these: relative_L1, over_exact_along_fibre, over_length_quarter_turn, ..., if they are finite;
/// and reached_percent, if fewer than all voxels were reached.
void add_arrival_errors(const connect_volume& v, const std::vector<float>& arrivals,
                        std::vector<std::pair<std::string, double>>& counters);

}  // namespace voxherd::bench
