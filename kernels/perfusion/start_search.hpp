#pragma once

#include <cstddef>
#include <vector>

#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/portable/function.hpp"

/// A dictionary of starts of a washout model with two inputs that all voxels share: unit-flow curves at a few rates and
/// delays. For a given rate and delays the best flows are a closed form of dot products with two curves, and each
/// product serves all pairs its curve is in.
///
/// The search of the dictionary: float, or a SIMD register with one voxel per lane. All threads of a warp read the
/// same numbers of the table at the same time; the sums stay in registers.
namespace voxherd::perfusion {

/// Number of each. The Levenberg-Marquardt fit from the best pair reached the global minimum in all 150 reference
/// voxels and in 97 (CNR 30) and 96 (CNR 10) of 100 random livers of 48 frames; from the best two in 99 and 98. Six
/// times as many pairs gave 97 and 97, a third of the pairs 96 and 94. The remaining minima differ by less than 1 % in
/// cost; more starts find them more often than more pairs do.
inline constexpr int start_rates = 6;
inline constexpr int start_arterial_delays = 8;
inline constexpr int start_portal_delays = 4;
inline constexpr int start_curves = start_arterial_delays + start_portal_delays;
inline constexpr int start_pairs = start_arterial_delays * start_portal_delays;

/// The size of one read by a GPU thread.
struct alignas(16) four_floats {
  float at[4];
};

using start_tissue = washout<2>;

/// Input of the search. Curves have length 1 over the fitted frames (0 if nothing arrives), arterial curves first.
struct start_table_view {
  static constexpr int column_fours = (start_curves + 3) / 4;
  static constexpr int pair_fours = 2 * start_pairs / 4;
  static_assert(2 * start_pairs % 4 == 0, "pairs of all rates lie one after the other");

  const four_floats* columns;  ///< [rate][frame][curve]; 0 at frames that are not fitted
  const four_floats* pairs;    ///< [rate][arterial delay][portal delay][2]: r = a . p, 1 / (1 - r^2)
  const four_floats* lengths;  ///< [rate][curve]: of the curve for a flow of 1/s
  int frames;
  int rates;  ///< up to start_rates; 1 if the rate is fixed
  float rate_per_s[start_rates];
  float delay_s[start_curves];        ///< arterial, then portal
  bool given[2];                      ///< flows that are fixed, not at 0 (then their curves are 0)
  float flow[2];                      ///< given flows, 1/s; else 0
  double start[start_tissue::count];  ///< start that the rules give, 1/s and s
  double least[start_tissue::count], most[start_tissue::count];  ///< for a fixed parameter, its value in both

  /// Number of different starts: one for each rate.
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
/// `tau_s`. Even and uneven frames. In double on the host: for tables that all voxels share.
std::vector<double> unit_curve(const time_course& t, const std::vector<double>& input, double rate_per_s, double tau_s,
                               discretisation_kind how);

template <class Number>
struct pair_flows {
  Number arterial, portal;  ///< flow times the curve's length
  Number explained;         ///< the part of y'y that they explain
};

/// The best flows >= 0 for two curves of length 1, a . p = r, inverse = 1 / (1 - r^2) (0: only one curve): inside, on
/// one of the two edges, or none. In a form that does not cancel where r is near 1.
template <class Number>
VOXHERD_FUNCTION pair_flows<Number> solve_pair(Number ya, Number yp, Number r, Number inverse) {
  const Number a = ya - r * yp, p = yp - r * ya, none(0.0f);
  const auto inside = lane::min(lane::min(a, p), inverse - 0.5f) >= none;
  const auto first = ya >= yp;
  const Number edge = lane::max(lane::max(ya, yp), none);
  return {lane::select(inside, inverse * a, lane::select(first, edge, none)),
          lane::select(inside, inverse * p, lane::select(first, none, edge)),
          lane::select(inside, ya * ya + inverse * p * p, edge * edge)};
}

/// The same for a given flow: flow times the curve's length; negative if the flow is free.
template <class Number>
VOXHERD_FUNCTION pair_flows<Number> solve_given_pair(Number ya, Number yp, Number r, const bool (&given)[2],
                                                     Number arterial, Number portal) {
  const Number none(0.0f);
  if (!given[0]) arterial = lane::max(ya - r * portal, none);
  if (!given[1]) portal = lane::max(yp - r * arterial, none);
  return {arterial, portal,
          arterial * (2.0f * ya - arterial) + portal * (2.0f * yp - portal) - 2.0f * r * arterial * portal};
}

/// The best pair at one rate, or of all.
template <class Number>
struct found_pair {
  Number explained;
  Number pair;    ///< index in the table
  Number ya, yp;  ///< y . a, y . p

  /// Takes the other if it is better; in a tie the first stays. Returns the one that was not kept.
  VOXHERD_FUNCTION found_pair take(const found_pair& other) {
    const auto better = other.explained > explained;
    const found_pair rest = chosen(better, *this, other);
    *this = chosen(better, other, *this);
    return rest;
  }

  template <class Mask>
  VOXHERD_FUNCTION static found_pair chosen(const Mask& condition, const found_pair& x, const found_pair& y) {
    return {lane::select(condition, x.explained, y.explained), lane::select(condition, x.pair, y.pair),
            lane::select(condition, x.ya, y.ya), lane::select(condition, x.yp, y.yp)};
  }
};

/// Finds the best `Starts` of one voxel, or of one per lane, best first, each at another rate. FlowsGiven: for a table
/// with flows_given().
template <int Starts, bool FlowsGiven, class Number>
class start_search {
 public:
  VOXHERD_FUNCTION explicit start_search(const start_table_view& table) : table_(table) {}

  /// Writes parameter k (1/s, s; within bounds, fixed ones exact) of start s of lane l to
  /// to[(parameters s + k) stride + l], for s below `starts`. If that is more than Starts or the table's rates,
  /// the last ones are the rules' start.
  template <class Scalar>
  VOXHERD_FUNCTION void operator()(voxel_samples y, int starts, Scalar* to, std::size_t stride) const {
    const found_pair<Number> nothing{Number(-1e38f), Number(0.0f), Number(0.0f), Number(0.0f)};
    found_pair<Number> best[Starts];
    VOXHERD_UNROLL
    for (int s = 0; s < Starts; ++s) best[s] = nothing;
    for (int rate = 0; rate < table_.rates; ++rate) {
      Number along[places];
      project(rate, y, along);
      found_pair<Number> found = nothing;
      look_through(rate, along, found);
      VOXHERD_UNROLL
      for (int s = 0; s < Starts; ++s) found = best[s].take(found);
    }
    VOXHERD_UNROLL
    for (int s = 0; s < Starts; ++s)
      if (s < starts && s < table_.rates) store(best[s], to + start_tissue::count * s * stride, stride);
    for (int s = Starts < table_.rates ? Starts : table_.rates; s < starts; ++s)
      for (int k = 0; k < start_tissue::count; ++k)
        put_all(table_.start[k], to + (start_tissue::count * s + k) * stride);
  }

 private:
  static constexpr int fours = start_table_view::column_fours;
  static constexpr int places = 4 * fours;

  VOXHERD_FUNCTION void project(int rate, voxel_samples y, Number (&along)[places]) const {
    VOXHERD_UNROLL
    for (int j = 0; j < places; ++j) along[j] = Number(0.0f);
    const four_floats* column = table_.columns + rate * table_.frames * fours;
    const float* sample = y.first;
    VOXHERD_UNROLL_BY(4)
    for (int i = 0; i < table_.frames; ++i, column += fours, sample += y.stride) {
      const Number c = load(sample, Number());
      VOXHERD_UNROLL
      for (int f = 0; f < fours; ++f) {
        const four_floats curves = column[f];
        VOXHERD_UNROLL
        for (int j = 0; j < 4; ++j) along[4 * f + j] = lane::fma(c, Number(curves.at[j]), along[4 * f + j]);
      }
    }
  }

  VOXHERD_FUNCTION void look_through(int rate, const Number (&along)[places], found_pair<Number>& best) const {
    const four_floats* two = table_.pairs + rate * start_table_view::pair_fours;
    VOXHERD_UNROLL
    for (int pair = 0; pair < start_pairs; pair += 2) {
      const four_floats gram = two[pair / 2];
      look_at(rate, pair, along, Number(gram.at[0]), Number(gram.at[1]), best);
      if (pair + 1 < start_pairs) look_at(rate, pair + 1, along, Number(gram.at[2]), Number(gram.at[3]), best);
    }
  }

  VOXHERD_FUNCTION void look_at(int rate, int pair, const Number (&along)[places], Number r, Number inverse,
                                found_pair<Number>& best) const {
    const Number place(static_cast<float>(rate * start_pairs + pair));
    const Number ya = along[pair / start_portal_delays];
    const Number yp = along[start_arterial_delays + pair % start_portal_delays];
    best.take({solve(place, ya, yp, r, inverse).explained, place, ya, yp});
  }

  VOXHERD_FUNCTION pair_flows<Number> solve(Number place, Number ya, Number yp, Number r, Number inverse) const {
    if constexpr (FlowsGiven) {
      const pair_place at(place);
      return solve_given_pair(ya, yp, r, table_.given, table_.flow[0] * length(at.rate, at.arterial),
                              table_.flow[1] * length(at.rate, at.portal));
    } else {
      return solve_pair(ya, yp, r, inverse);
    }
  }

  /// The curves at an index of the table; adding 1/2 protects the quotient from rounding to the next integer.
  struct pair_place {
    Number rate, arterial, portal;  ///< portal: among all curves
    VOXHERD_FUNCTION explicit pair_place(Number place) {
      rate = lane::floor((place + 0.5f) * (1.0f / start_pairs));
      const Number pair = place - rate * static_cast<float>(start_pairs);
      arterial = lane::floor((pair + 0.5f) * (1.0f / start_portal_delays));
      portal = pair - arterial * static_cast<float>(start_portal_delays) + static_cast<float>(start_arterial_delays);
    }
  };

  VOXHERD_FUNCTION Number length(Number rate, Number curve) const {
    return read(table_.lengths->at, rate * static_cast<float>(places) + curve);
  }

  template <class Scalar>
  VOXHERD_FUNCTION void store(const found_pair<Number>& found, Scalar* to, std::size_t stride) const {
    const pair_place at(found.pair);
    const Number gram = 2.0f * found.pair;
    const auto flows =
        solve(found.pair, found.ya, found.yp, read(table_.pairs->at, gram), read(table_.pairs->at, gram + 1.0f));
    const Number tiny(1e-30f);  // a curve of zeros explains nothing: its flow is 0 / tiny
    put(start_tissue::rate, read(table_.rate_per_s, at.rate), to, stride);
    put(start_tissue::flow(0), flows.arterial / lane::max(length(at.rate, at.arterial), tiny), to, stride);
    put(start_tissue::flow(1), flows.portal / lane::max(length(at.rate, at.portal), tiny), to, stride);
    put(start_tissue::delay(0), read(table_.delay_s, at.arterial), to, stride);
    put(start_tissue::delay(1), read(table_.delay_s, at.portal), to, stride);
  }

  template <class Scalar>
  VOXHERD_FUNCTION void put(int k, Number value, Scalar* to, std::size_t stride) const {
    for (int l = 0; l < lane::lane_traits<Number>::count; ++l) {
      const double one = static_cast<double>(lane::get(value, l));
      to[static_cast<std::size_t>(k) * stride + static_cast<std::size_t>(l)] =
          static_cast<Scalar>(lane::min(lane::max(one, table_.least[k]), table_.most[k]));
    }
  }

  template <class Scalar>
  VOXHERD_FUNCTION static void put_all(double value, Scalar* to) {
    for (int l = 0; l < lane::lane_traits<Number>::count; ++l) to[l] = static_cast<Scalar>(value);
  }

  const start_table_view& table_;
};

/// Calls search(start_search) with the smallest search for so many starts (at most start_rates).
template <class Number, class Call>
VOXHERD_FUNCTION void with_start_search(const start_table_view& table, int starts, const Call& search) {
  if (table.flows_given()) return search(start_search<start_rates, true, Number>(table));
  if (starts == 1) return search(start_search<1, false, Number>(table));
  if (starts <= 3) return search(start_search<3, false, Number>(table));
  search(start_search<start_rates, false, Number>(table));
}

}  // namespace voxherd::perfusion
