#pragma once

#include <string>
#include <vector>

#include "bench/connect_volumes.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::bench {

/// The error of the arrival times of the volume's first front; empty if they are correct.
std::string check_arrivals(const connect_volume& v, const connect::solver_settings& how,
                           const std::vector<float>& arrivals);

/// Largest |a - b| / b, infinite where only one of them is finite.
double largest_difference(const std::vector<float>& a, const std::vector<float>& b);

/// Sum of |a - b| over the sum of b, where both are finite.
double mean_difference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace voxherd::bench
