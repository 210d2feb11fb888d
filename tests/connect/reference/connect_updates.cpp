#include "tests/connect/reference/connect_updates.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::reference {
namespace {

bool is_inside(const connect::speed_field& field, const voxel3& x) {
  for (std::size_t d = 0; d < 3; ++d)
    if (x[d] < 0 || x[d] >= long(field.size[d])) return false;
  return field.inside[(std::size_t(x[2]) * field.size[1] + std::size_t(x[1])) * field.size[0] + std::size_t(x[0])] != 0;
}

/// Whether the axes in `crossed` can be stepped along one after another, in some order, without leaving the mask.
bool has_way_by_faces(const connect::speed_field& field, const voxel3& at, const voxel3& sign,
                      const std::vector<std::size_t>& crossed) {
  std::vector<std::size_t> order = crossed;  // increasing, as next_permutation requires
  do {
    voxel3 x = at;
    bool open = true;
    for (const std::size_t d : order) x[d] += sign[d], open = open && is_inside(field, x);
    if (open) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

double product(const std::array<double, 6>& S, const voxel3& a, const voxel3& b) {
  const double x = double(b[0]), y = double(b[1]), z = double(b[2]);
  return double(a[0]) * (S[0] * x + S[1] * y + S[2] * z) + double(a[1]) * (S[1] * x + S[3] * y + S[4] * z) +
         double(a[2]) * (S[2] * x + S[4] * y + S[5] * z);
}

}  // namespace

bool step_is_open(const connect::speed_field& field, const voxel3& from, const voxel3& e) {
  // The k-th face across axis d is crossed at (2 k + 1) / (2 |e_d|); times 2 |e_x e_y e_z| this is an integer.
  voxel3 sign, length, next{0, 0, 0}, at = from;
  long common = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    sign[d] = e[d] < 0 ? -1 : 1, length[d] = std::labs(e[d]);
    if (length[d]) common *= length[d];
  }
  if (!is_inside(field, from)) return false;
  while (true) {
    const auto time = [&](std::size_t d) {
      return next[d] < length[d] ? (2 * next[d] + 1) * (common / length[d]) : 4 * common;
    };
    const long soonest = std::min({time(0), time(1), time(2)});
    if (soonest == 4 * common) return true;
    std::vector<std::size_t> crossed;
    for (std::size_t d = 0; d < 3; ++d)
      if (time(d) == soonest) crossed.push_back(d);
    if (!has_way_by_faces(field, at, sign, crossed)) return false;
    for (const std::size_t d : crossed) at[d] += sign[d], ++next[d];
  }
}

std::array<whole_number_direction, 6> selling_decomposition_vectors(const std::array<double, 6>& S) {
  std::array<voxel3, 4> b{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, -1}}};
  const double tiny = 1e-14 * (S[0] + S[3] + S[5]);
  const auto acute = [&](std::size_t& i, std::size_t& j) {
    for (i = 0; i < 4; ++i)
      for (j = i + 1; j < 4; ++j)
        if (product(S, b[i], b[j]) > tiny) return true;
    return false;
  };
  for (std::size_t i, j; acute(i, j);) {
    for (std::size_t k = 0; k < 4; ++k)
      if (k != i && k != j)
        for (std::size_t d = 0; d < 3; ++d) b[k][d] += b[i][d];
    for (long& c : b[i]) c = -c;
  }
  std::array<whole_number_direction, 6> directions;
  std::size_t n = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      std::array<std::size_t, 2> other{};
      for (std::size_t k = 0, m = 0; k < 4; ++k)
        if (k != i && k != j) other[m++] = k;
      const voxel3 &p = b[other[0]], &q = b[other[1]];
      directions[n++] = {std::max(0.0, -product(S, b[i], b[j])),
                         {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]}};
    }
  return directions;
}

double upwind_root(std::vector<upwind_term> terms) {
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  double u = INFINITY;
  // Solves a u^2 - 2 b u + c = 1 for the terms below u, added one by one from the smallest; relative to the smallest
  // value, for precision.
  double a = 0, b = 0, c = 0;
  const double least = terms.empty() ? 0 : terms[0].value;
  for (const auto& [weight, value] : terms) {
    if (!(value < u) || weight <= 0 || value == INFINITY) continue;
    const double v = value - least;
    a += weight, b += weight * v, c += weight * v * v;
    u = least + (b + std::sqrt(std::max(0.0, b * b - a * (c - 1)))) / a;
  }
  return u;
}

double simplex_cost(const mat3& S, const std::vector<voxel3>& vertices, const std::vector<double>& values) {
  // With E the vertices as columns and A = E^T S^-1 E, the u of a gradient that fits all values has
  // (u 1 - v) . A^-1 (u 1 - v) = 1, and the path comes from a point of the weights A^-1 (u 1 - v).
  const std::size_t n = vertices.size();
  std::array<vec3, 3> E{};
  for (std::size_t i = 0; i < n; ++i) E[i] = {double(vertices[i][0]), double(vertices[i][1]), double(vertices[i][2])};
  const mat3 G = inverse(S);
  mat3 A = identity3;
  vec3 one{}, v{};
  for (std::size_t i = 0; i < n; ++i) {
    one[i] = 1, v[i] = values[i] - values[0];
    for (std::size_t j = 0; j < n; ++j) A[i][j] = form(E[i], G, E[j]);
  }
  const mat3 B = inverse(A);
  const double a = form(one, B, one), b = form(one, B, v), c = form(v, B, v) - 1;
  if (b * b < a * c) return INFINITY;
  const double u = (b + std::sqrt(b * b - a * c)) / a;
  const vec3 weight = B * (u * one - v);
  for (std::size_t i = 0; i < n; ++i)
    if (weight[i] < 0) return INFINITY;
  return values[0] + u;
}

std::vector<std::vector<voxel3>> octant_simplices() {
  std::vector<std::vector<voxel3>> all;
  for (long x = -1; x <= 1; ++x)
    for (long y = -1; y <= 1; ++y)
      for (long z = -1; z <= 1; ++z) {
        std::vector<voxel3> vertices;
        if (x) vertices.push_back({x, 0, 0});
        if (y) vertices.push_back({0, y, 0});
        if (z) vertices.push_back({0, 0, z});
        if (!vertices.empty()) all.push_back(vertices);
      }
  return all;
}

std::vector<std::vector<voxel3>> cube_simplices() {
  std::vector<std::vector<voxel3>> all;
  const auto is_within = [](const voxel3& p, const voxel3& q) {
    for (std::size_t d = 0; d < 3; ++d)
      if (p[d] != 0 && p[d] != q[d]) return false;
    return p != q;
  };
  std::vector<voxel3> neighbours;
  for (long x = -1; x <= 1; ++x)
    for (long y = -1; y <= 1; ++y)
      for (long z = -1; z <= 1; ++z)
        if (x || y || z) neighbours.push_back({x, y, z});
  for (const voxel3& p : neighbours) {
    all.push_back({p});
    for (const voxel3& q : neighbours) {
      if (!is_within(p, q)) continue;
      all.push_back({p, q});
      for (const voxel3& r : neighbours)
        if (is_within(q, r)) all.push_back({p, q, r});
    }
  }
  return all;
}

}  // namespace voxherd::reference
