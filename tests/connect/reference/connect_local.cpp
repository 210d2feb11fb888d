#include "tests/connect/reference/connect_local.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace voxherd::reference {

namespace {

using function = std::function<double(double)>;

/// Minimises a convex function by sections, to 1e-15 of the interval.
double min_between(double low, double high, const function& f) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = f(left), at_right = f(right);
  double least = std::min({f(low), f(high), at_left, at_right});
  for (int section = 0; section < 72; ++section) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      left = high - golden * (high - low), at_left = f(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + golden * (high - low), at_right = f(right);
    }
    least = std::min({least, at_left, at_right});
  }
  return least;
}

/// Smallest x in [low, high] with f(x) >= 1 for increasing f.
double where_one(double low, double high, const function& f) {
  for (int half = 0; half < 64; ++half) {
    const double middle = (low + high) / 2;
    (f(middle) < 1 ? low : high) = middle;
  }
  return (low + high) / 2;
}

double flux_from(std::size_t axis, const mat3& s, const six_neighbours& v, double u, vec3 p) {
  if (axis == 3) return form(p, s, p);
  const double backward = u - v.before[axis], forward = v.after[axis] - u;
  const function h = [&](double x) {
    vec3 q = p;
    q[axis] = x;
    return flux_from(axis + 1, s, v, u, q);
  };
  // Convex in each component, so the maximum is at an end.
  if (backward > forward) return std::max(h(backward), h(forward));
  if (axis < 2) {
    // Components beyond those that make p . S p = 4 by themselves do not matter: S is at least 1 / trace(S^-1).
    const double far = 2 * std::sqrt(inverse(s)[0][0] + inverse(s)[1][1] + inverse(s)[2][2]);
    const double low = std::clamp(backward, -far, far), high = std::clamp(forward, -far, far);
    return low < high ? min_between(low, high, h) : h(low == far ? backward : low == -far ? forward : low);
  }
  const double critical = -(s[2][0] * p[0] + s[2][1] * p[1]) / s[2][2];
  return h(std::clamp(critical, backward, forward));
}

}  // namespace

double godunov_flux(const mat3& s, const six_neighbours& v, double u) { return flux_from(0, s, v, u, {0, 0, 0}); }

double cheapest_axis(const mat3& s, const six_neighbours& v) {
  const mat3 g = inverse(s);
  double least = missing;
  for (std::size_t d = 0; d < 3; ++d) least = std::min(least, std::min(v.before[d], v.after[d]) + std::sqrt(g[d][d]));
  return least;
}

double godunov_root(const mat3& s, const six_neighbours& v) {
  double low = missing;
  for (std::size_t d = 0; d < 3; ++d) low = std::min({low, v.before[d], v.after[d]});
  return where_one(low, cheapest_axis(s, v), [&](double u) { return godunov_flux(s, v, u); });
}

namespace {

enum side { backward = -1, critical = 0, forward = 1 };

/// Axes with a one-sided difference, and S on them if q = S p is 0 on the others.
struct one_sided {
  std::vector<std::size_t> axes;
  mat3 schur;
};

one_sided eliminate(const mat3& s, const std::array<int, 3>& sides) {
  one_sided out{{}, s};
  std::vector<std::size_t> gone;
  for (std::size_t d = 0; d < 3; ++d) (sides[d] == critical ? gone : out.axes).push_back(d);
  for (const std::size_t c : gone) {
    const mat3 now = out.schur;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        if (i != c && j != c) out.schur[i][j] -= now[i][c] * now[c][j] / now[c][c];
  }
  return out;
}

int left_index(double p_backward, double p_forward, double p_critical) {
  if (p_backward < p_critical && p_critical < p_forward) return critical;
  return (p_backward + p_forward) / 2 < p_critical ? forward : backward;
}

/// Larger root of Q(p, p) = 1 with p_d = sign_d (u - v_d).
std::optional<double> larger_root(const one_sided& o, const std::array<int, 3>& sides, const six_neighbours& v) {
  double a = 0, b = 0, c = -1;
  for (const std::size_t i : o.axes)
    for (const std::size_t j : o.axes) {
      const double q = o.schur[i][j] * sides[i] * sides[j];
      const double at_i = sides[i] == backward ? v.before[i] : v.after[i];
      const double at_j = sides[j] == backward ? v.before[j] : v.after[j];
      a += q, b += q * (at_i + at_j) / 2, c += q * at_i * at_j;
    }
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return std::nullopt;
  return (b + std::sqrt(discriminant)) / a;
}

/// All three components of p; the critical ones follow from the others.
vec3 gradient(const mat3& s, const std::array<int, 3>& sides, const six_neighbours& v, double u) {
  mat3 rows = identity3;
  vec3 right{};
  for (std::size_t d = 0; d < 3; ++d) {
    if (sides[d] == critical) rows[d] = s[d];
    if (sides[d] == backward) right[d] = u - v.before[d];
    if (sides[d] == forward) right[d] = v.after[d] - u;
  }
  return inverse(rows) * right;
}

bool is_valid(const mat3& s, const std::array<int, 3>& sides, const six_neighbours& v, double u) {
  const vec3 p = gradient(s, sides, v, u);
  for (std::size_t d = 0; d < 3; ++d) {
    const double p_critical = -(dot(s[d], p) - s[d][d] * p[d]) / s[d][d];
    if (left_index(u - v.before[d], v.after[d] - u, p_critical) != sides[d]) return false;
  }
  return true;
}

bool uses_missing(const std::array<int, 3>& sides, const six_neighbours& v) {
  for (std::size_t d = 0; d < 3; ++d)
    if ((sides[d] == backward && v.before[d] >= missing) || (sides[d] == forward && v.after[d] >= missing)) return true;
  return false;
}

}  // namespace

std::optional<double> smallest_valid_case(const mat3& s, const six_neighbours& v) {
  std::optional<double> least;
  for (int n = 0; n < 27; ++n) {
    const std::array<int, 3> sides{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    if (sides == std::array<int, 3>{0, 0, 0} || uses_missing(sides, v)) continue;
    const auto u = larger_root(eliminate(s, sides), sides, v);
    if (u && is_valid(s, sides, v, *u) && (!least || *u < *least)) least = u;
  }
  return least;
}

double hopf_lax_minimum(const mat3& s, const cube_neighbours& v) {
  const mat3 g = inverse(s);
  double least = missing;
  std::array<std::size_t, 3> axis{0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      std::vector<vec3> vertex;
      std::vector<double> value;
      vec3 at{};
      for (const std::size_t d : axis) {
        at[d] = signs >> d & 1 ? -1 : 1;
        const double u = v[static_cast<std::size_t>(13 + at[0] + 3 * at[1] + 9 * at[2])];
        if (u < missing) vertex.push_back(at), value.push_back(u);
      }
      if (vertex.empty()) continue;
      while (vertex.size() < 3) vertex.push_back(vertex.back()), value.push_back(value.back());
      const auto cost = [&](double a, double b) {
        const double c = 1 - a - b;
        const vec3 y = a * vertex[0] + b * vertex[1] + c * vertex[2];
        return a * value[0] + b * value[1] + c * value[2] + std::sqrt(form(y, g, y));
      };
      const auto along = [&](double a) { return min_between(0, 1 - a, [&](double b) { return cost(a, b); }); };
      least = std::min(least, min_between(0, 1, along));
    }
  } while (std::next_permutation(axis.begin(), axis.end()));
  return least;
}

double selling_root(const std::array<double, 6>& weight, const std::array<double, 6>& lower) {
  double high = missing;
  for (std::size_t i = 0; i < 6; ++i)
    if (weight[i] > 0) high = std::min(high, lower[i] + 1 / std::sqrt(weight[i]));
  return where_one(*std::min_element(lower.begin(), lower.end()), high, [&](double u) {
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += weight[i] * std::pow(std::max(0.0, u - lower[i]), 2);
    return sum;
  });
}

}  // namespace voxherd::reference
