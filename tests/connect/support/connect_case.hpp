#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "tests/connect/reference/connect_cases.hpp"
#include "tests/connect/reference/connect_reference.hpp"

/// Fronts, solutions and their errors for tests of the Hamilton-Jacobi solver.
namespace voxherd::reference {

/// A scheme and its order, with a name for tables.
struct connect_scheme {
  const char* name;
  connect::scheme_kind kind;
  int order;

  connect::solver_settings settings() const {
    connect::solver_settings s;
    s.scheme = kind, s.order = order;
    return s;
  }
};
inline constexpr connect_scheme selling1{"selling o1", connect::scheme_kind::selling, 1};
inline constexpr connect_scheme selling2{"selling o2", connect::scheme_kind::selling, 2};
inline constexpr connect_scheme godunov27{"godunov27", connect::scheme_kind::godunov27, 1};
inline constexpr connect_scheme hl26{"hl26", connect::scheme_kind::hl26, 1};
inline constexpr connect_scheme connect_schemes[] = {selling1, selling2, godunov27, hl26};

inline void PrintTo(const connect_scheme& s, std::ostream* out) { *out << s.name; }

/// For each voxel of the grid its index in the mask, 2^32 - 1 outside.
inline std::vector<std::uint32_t> mask_numbers(const connect_case& c) {
  std::vector<std::uint32_t> numbers(c.inside.size(), ~0u);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (c.inside[i]) numbers[i] = count++;
  return numbers;
}

/// Index coordinates of the mask's voxels.
inline std::vector<vec3> places_inside(const connect_case& c) {
  std::vector<vec3> places;
  std::size_t i = 0;
  for (std::uint64_t z = 0; z < c.size[2]; ++z)
    for (std::uint64_t y = 0; y < c.size[1]; ++y)
      for (std::uint64_t x = 0; x < c.size[0]; ++x, ++i)
        if (c.inside[i]) places.push_back({double(x), double(y), double(z)});
  return places;
}

using starts = std::vector<connect::start>;

/// The exact arrival times of all voxels within `radius` voxels of a position: the initial values for a table of
/// errors.
inline starts exact_ball(const connect_case& c, const vec3& source, double radius) {
  starts ball;
  const auto places = places_inside(c);
  for (std::uint32_t n = 0; n < places.size(); ++n)
    if (norm(places[n] - source) <= radius) ball.push_back({n, static_cast<float>(c.distance(source, places[n]))});
  return ball;
}
inline starts exact_ball(const connect_case& c, double radius) { return exact_ball(c, c.source, radius); }

/// A voxel with arrival time 0.
inline starts one_voxel(const connect_case& c, const vec3& place) { return {{mask_numbers(c)[c.linear(place)], 0}}; }
inline starts one_voxel(const connect_case& c) { return one_voxel(c, c.source); }

inline connect::start_list make_fronts(const std::vector<starts>& each) {
  connect::start_list list;
  for (const auto& front : each) {
    list.starts.insert(list.starts.end(), front.begin(), front.end());
    list.offsets.push_back(list.starts.size());
  }
  return list;
}

/// Arrival times on the mask, by the solver under test.
inline std::vector<float> solve_arrivals(const device& d, const connect_case& c, const starts& front,
                                         const connect::solver_settings& settings) {
  use_device(d);
  const auto solver = connect::make_solver(d, c.field(), settings);
  std::vector<float> u(solver->voxels());
  const auto report = solver->solve(make_fronts({front}));
  if (!report.converged) throw std::runtime_error(c.name + ": the solver did not converge");
  solver->arrivals(0, 1, u.data());
  return u;
}

template <class Number>
double arrival_at(const connect_case& c, const std::vector<Number>& u, const vec3& place) {
  return double(u[mask_numbers(c)[c.linear(place)]]);
}

/// Sum of |u - exact| over the sum of exact, on all voxels.
template <class Number>
double relative_l1(const connect_case& c, const std::vector<Number>& u) {
  const auto places = places_inside(c);
  double error = 0, all = 0;
  for (std::size_t n = 0; n < places.size(); ++n) {
    const double exact = c.distance(c.source, places[n]);
    error += std::abs(double(u[n]) - exact), all += exact;
  }
  return error / all;
}

/// The largest |a - b| / b; infinite where one is infinite and the other is not.
template <class NumberA, class NumberB>
double largest_difference(const std::vector<NumberA>& a, const std::vector<NumberB>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double x = double(a[i]), y = double(b[i]);
    if (x == y) continue;
    largest = std::max(largest, std::isinf(x) != std::isinf(y) ? INFINITY : std::abs(x - y) / std::abs(y));
  }
  return largest;
}

/// Sum of |a - b| over the sum of b, where both are finite.
template <class NumberA, class NumberB>
double mean_difference(const std::vector<NumberA>& a, const std::vector<NumberB>& b) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isinf(double(a[i])) || std::isinf(double(b[i]))) continue;
    sum += std::abs(double(a[i]) - double(b[i])), all += double(b[i]);
  }
  return sum / all;
}

/// Accuracy of the straight path found from the sum of two fronts.
struct pathway_score {
  double epsilon;  ///< the least excess over the cheapest sum that has every voxel of the path
  double dice;     ///< of the voxels with an excess of up to 5 %, and those that truly have no more
};

/// In a constant field: fronts from balls of two voxels about the middle -+ half * direction.
inline pathway_score pathway_of(const device& d, const connect_case& c, const vec3& direction, double half,
                                const connect::solver_settings& settings) {
  use_device(d);
  const vec3 from = c.source - half * direction, to = c.source + half * direction;
  const auto solver = connect::make_solver(d, c.field(), settings);
  solver->solve(make_fronts({exact_ball(c, from, 2), exact_ball(c, to, 2)}));
  const std::size_t n = solver->voxels();
  std::vector<float> u(2 * n);
  solver->arrivals(0, 2, u.data());
  std::vector<double> sum(n);
  for (std::size_t i = 0; i < n; ++i) sum[i] = double(u[i]) + double(u[n + i]);
  const double least = *std::min_element(sum.begin(), sum.end()), exact = c.distance(from, to);
  pathway_score score{0, 0};
  for (double k = -half; k <= half; ++k)
    score.epsilon = std::max(score.epsilon, arrival_at(c, sum, c.source + k * direction) / least - 1);
  const auto places = places_inside(c);
  std::size_t found = 0, right = 0, both = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_found = sum[i] <= 1.05 * least;
    const bool is_right = c.distance(from, places[i]) + c.distance(to, places[i]) <= 1.05 * exact;
    found += is_found, right += is_right, both += is_found && is_right;
  }
  score.dice = 2.0 * double(both) / double(found + right);
  return score;
}

}  // namespace voxherd::reference
