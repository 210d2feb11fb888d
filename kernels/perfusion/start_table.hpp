#pragma once

#include <cstddef>
#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/portable/function.hpp"

/// A dictionary of starts that all voxels share: unit-flow curves at a few kl and delays. For given kl and delays the
/// best flows are a closed form of dot products with two curves, and each product serves all pairs its curve is in.
namespace voxherd::perfusion {

/// Number of each. The Levenberg-Marquardt fit from the best pair reached the global minimum in all 150 reference
/// voxels and in 97 (CNR 30) and 96 (CNR 10) of 100 random livers of 48 frames; from the best two in 99 and 98. Six
/// times as many pairs gave 97 and 97, a third of the pairs 96 and 94. The remaining minima differ by less than 1 % in
/// cost; more starts find them more often than more pairs do.
inline constexpr int start_rates = 6;  ///< kl
inline constexpr int start_arterial_delays = 8;
inline constexpr int start_portal_delays = 4;
inline constexpr int start_curves = start_arterial_delays + start_portal_delays;
inline constexpr int start_pairs = start_arterial_delays * start_portal_delays;

/// The size of one read by a GPU thread.
struct alignas(16) four_floats {
  float at[4];
};

/// Input of the search. Curves have length 1 over the fitted frames (0 if nothing arrives), arterial curves first.
struct start_table_view {
  static constexpr int column_fours = (start_curves + 3) / 4;
  static constexpr int pair_fours = 2 * start_pairs / 4;
  static_assert(2 * start_pairs % 4 == 0, "pairs of all rates lie one after the other");

  const four_floats* columns;  ///< [rate][frame][curve]; 0 at frames that are not fitted
  const four_floats* pairs;    ///< [rate][arterial delay][portal delay][2]: r = a . p, 1 / (1 - r^2)
  const four_floats* lengths;  ///< [rate][curve]: of the curve for a flow of 1/s
  int frames;
  int rates;                                             ///< up to start_rates; 1 if kl is fixed
  float kl[start_rates];                                 ///< 1/s
  float delay_s[start_curves];                           ///< arterial, then portal
  bool given[2];                                         ///< ka, kp are fixed, not at 0 (then their curves are 0)
  float flow[2];                                         ///< flows for a given ka, kp, 1/s; else 0
  double start[parameter_count];                         ///< start that the rules give, 1/s and s
  double least[parameter_count], most[parameter_count];  ///< for a fixed parameter, its value in both

  /// Number of different starts: one for each kl.
  VOXHERD_FUNCTION int max_starts() const { return rates; }
  VOXHERD_FUNCTION bool flows_given() const { return given[0] || given[1]; }
};

/// The numbers of a start_table_view, in host memory.
class start_table {
 public:
  start_table(const time_course& t, const fit_settings& settings);
  start_table_view view() const { return view_of(values_.data()); }
  /// The same numbers in another memory, copied there in the order of values().
  start_table_view view_of(const four_floats* values) const;
  const std::vector<four_floats>& values() const { return values_; }

 private:
  void add_rate(int rate, const time_course& t, const fit_settings& settings);

  std::vector<four_floats> values_;  ///< columns, pairs, lengths
  start_table_view facts_{};         ///< all but the pointers
};

/// The tissue's curve at the frames for a flow of 1/s from one input (`input`: as many values as frames), delayed by
/// `tau_s`, kl in 1/s. Even and uneven frames. In double on the host: for tables that all voxels share.
std::vector<double> unit_curve(const time_course& t, const std::vector<double>& input, double kl_per_s, double tau_s,
                               discretisation_kind how);

}  // namespace voxherd::perfusion
