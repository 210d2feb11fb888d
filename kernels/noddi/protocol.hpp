#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/noddi/settings.hpp"
#include "kernels/noddi/watson.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd::noddi {

constexpr double ms_per_um2 = 1e-3;  ///< converts b in s/mm2

/// The grid from which the fit starts.
constexpr int grid_odis = 8, grid_ndis = 6;
VOXHERD_FUNCTION inline double grid_odi(int i) {
  constexpr double values[grid_odis] = {.03, .08, .15, .25, .38, .55, .75, .92};
  return values[i];
}
constexpr double first_grid_ndi = .1, grid_ndi_step = .15;

/// Nodes of the chain's table over ODI, from min_odi to 1: with exact slopes the signal's error is 2e-7 at b = 3000
/// and 7e-6 at 10000 s/mm2.
constexpr int table_intervals = 128;

/// Parameters of a voxel, for predict_signals(). `axis`: in the frame of the gradients.
struct signal_parameters {
  double s0, fwf, ndi, odi, dot;
  std::array<double, 3> axis;
};

/// What depends on the gradients and settings only. Measurements are in the order of their b-values, so that
/// neighbours have the same table.
struct protocol {
  /// Of more b-values than `tables`, the nearest share one.
  protocol(const gradient_table& gradients, const settings& s, int tables = max_shells);

  int terms;                         ///< few_terms or many_terms
  std::vector<std::uint32_t> order;  ///< measurement i's volume
  std::vector<double> x, y, z;       ///< unit gradients
  std::vector<double> b;             ///< ms/um2
  std::vector<double> isotropic;     ///< exp(-b d_iso)
  std::vector<std::int32_t> shell;   ///< index into `shell_b`
  std::vector<std::uint8_t> low_b;   ///< whether the start's tensor uses it
  std::vector<double> shell_b;       ///< ms/um2
  double d_par;                      ///< um2/ms
  /// (shell, power of 2 u - 1, order): the signal's coefficients are its product with the moments.
  std::vector<double> stick;
  std::vector<double> grid_coefficient;  ///< (grid_odi, shell, power)
  std::vector<double> grid_mean_square;  ///< (grid_odi)

  std::size_t measurements() const { return order.size(); }
  int shells() const { return static_cast<int>(shell_b.size()); }
  /// Numbers of one node of the chain's table: a coefficient of each shell and power, zeros for a shell without signal
  /// (padding), then <(mu.n)^2>.
  int row_numbers() const { return (shells() + 1) * terms + 1; }
  /// (node, value and slope, number): slopes are per interval.
  std::vector<float> chain_table() const;

 private:
  void find_shells(int tables);
  void fill_sticks();
  void coefficients(double odi, double* coefficient, double* slope_by_kappa, double& mean_square,
                    double& mean_square_slope) const;
  friend std::vector<double> predict_signals(const protocol& p, const signal_parameters& v);
};

/// Signals of a voxel, in the order of the series' volumes.
std::vector<double> predict_signals(const protocol& p, const signal_parameters& v);

/// The largest difference of a volume's b-value from that of its table, s/mm2: up to max_shells
/// distinct values no more than rounding.
double largest_b_difference(const protocol& p, const gradient_table& gradients);

}  // namespace voxherd::noddi
