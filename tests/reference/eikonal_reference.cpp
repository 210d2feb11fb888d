#include "tests/reference/eikonal_reference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace voxherd::reference {
namespace {

constexpr double unreached = INFINITY;
constexpr std::size_t nowhere = ~std::size_t{0};

bool is_inside(const eikonal::speed_field& field, const voxel3& x) {
  for (std::size_t d = 0; d < 3; ++d)
    if (x[d] < 0 || x[d] >= long(field.size[d])) return false;
  return field.inside[(std::size_t(x[2]) * field.size[1] + std::size_t(x[1])) * field.size[0] + std::size_t(x[0])] != 0;
}

/// Whether the axes of `crossed` can be stepped along one after another, in some order, without leaving the mask.
bool has_way_by_faces(const eikonal::speed_field& field, const voxel3& at, const voxel3& sign,
                      const std::vector<std::size_t>& crossed) {
  std::vector<std::size_t> order = crossed;  // increasing, as next_permutation wants it
  do {
    voxel3 x = at;
    bool open = true;
    for (const std::size_t d : order) x[d] += sign[d], open = open && is_inside(field, x);
    if (open) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

std::array<double, 6> tensor_at(const eikonal::speed_field& field, std::size_t linear) {
  std::array<double, 6> S;
  for (std::size_t i = 0; i < 6; ++i) S[i] = double(field.tensors[8 * linear + i]);
  return S;
}

double product(const std::array<double, 6>& S, const voxel3& a, const voxel3& b) {
  const double x = double(b[0]), y = double(b[1]), z = double(b[2]);
  return double(a[0]) * (S[0] * x + S[1] * y + S[2] * z) + double(a[1]) * (S[1] * x + S[3] * y + S[4] * z) +
         double(a[2]) * (S[2] * x + S[4] * y + S[5] * z);
}

}  // namespace

bool step_is_open(const eikonal::speed_field& field, const voxel3& from, const voxel3& e) {
  // Axis d's k-th face is crossed at (2 k + 1) / (2 |e_d|); times 2 |e_x e_y e_z| that is a whole number.
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

std::array<whole_number_direction, 6> selling_directions_of(const std::array<double, 6>& S) {
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
  double u = unreached;
  // a u^2 - 2 b u + c = 1 of the terms below u, taken one by one from the smallest on; about the smallest value, for
  // the digits.
  double a = 0, b = 0, c = 0;
  const double least = terms.empty() ? 0 : terms[0].value;
  for (const auto& [weight, value] : terms) {
    if (!(value < u) || weight <= 0 || value == unreached) continue;
    const double v = value - least;
    a += weight, b += weight * v, c += weight * v * v;
    u = least + (b + std::sqrt(std::max(0.0, b * b - a * (c - 1)))) / a;
  }
  return u;
}

std::vector<std::size_t> voxels_inside(const eikonal::speed_field& field) {
  std::vector<std::size_t> voxels;
  for (std::size_t i = 0; i < field.inside.size(); ++i)
    if (field.inside[i]) voxels.push_back(i);
  return voxels;
}

namespace {

/// A voxel's neighbours along one of its directions, nowhere where a step is not open.
struct neighbour_pair {
  double weight = 0;
  std::array<std::size_t, 2> near{nowhere, nowhere}, far{nowhere, nowhere};
};

class selling_stencils {
 public:
  explicit selling_stencils(const eikonal::speed_field& field) : pairs_(field.inside.size()) {
    const long nx = long(field.size[0]), ny = long(field.size[1]);
    for (const std::size_t i : voxels_inside(field)) {
      const voxel3 x{long(i) % nx, long(i) / nx % ny, long(i) / nx / ny};
      const auto directions = selling_directions_of(tensor_at(field, i));
      for (std::size_t n = 0; n < 6; ++n) {
        const auto& [weight, e] = directions[n];
        pairs_[i][n].weight = weight;
        for (std::size_t side = 0; side < 2 && weight > 0; ++side) {
          const long s = side == 0 ? 1 : -1;
          const voxel3 step{s * e[0], s * e[1], s * e[2]};
          const voxel3 near{x[0] + step[0], x[1] + step[1], x[2] + step[2]};
          const long stride = step[0] + nx * (step[1] + ny * step[2]);
          if (!step_is_open(field, x, step)) continue;
          pairs_[i][n].near[side] = std::size_t(long(i) + stride);
          if (step_is_open(field, near, step)) pairs_[i][n].far[side] = std::size_t(long(i) + 2 * stride);
        }
      }
    }
  }

  double first_order(std::size_t i, const std::vector<double>& u) const {
    std::vector<upwind_term> terms;
    for (const auto& p : pairs_[i]) terms.push_back({p.weight, std::min(at(u, p.near[0]), at(u, p.near[1]))});
    return upwind_root(terms);
  }

  /// Keeps of each pair the smaller neighbour, and the one behind it where that is smaller still.
  void freeze(const std::vector<double>& u) {
    for (auto& voxel : pairs_)
      for (auto& p : voxel) {
        const std::size_t side = at(u, p.near[1]) < at(u, p.near[0]) ? 1 : 0;
        p.near[0] = p.near[side], p.far[0] = p.far[side];
        if (!(at(u, p.far[0]) < at(u, p.near[0]))) p.far[0] = nowhere;
      }
  }

  double second_order(std::size_t i, const std::vector<double>& u) const {
    std::vector<upwind_term> terms;
    for (const auto& p : pairs_[i]) {
      const double near = at(u, p.near[0]);
      if (p.far[0] == nowhere)
        terms.push_back({p.weight, near});
      else
        terms.push_back({9 * p.weight / 4, near + (near - at(u, p.far[0])) / 3});
    }
    return upwind_root(terms);
  }

 private:
  static double at(const std::vector<double>& u, std::size_t i) { return i == nowhere ? unreached : u[i]; }

  std::vector<std::array<neighbour_pair, 6>> pairs_;
};

/// Sweeps over the voxels that are not fixed.
class sweeper {
 public:
  sweeper(const eikonal::speed_field& field, const std::vector<eikonal::start>& starts)
      : size_(field.size), free_(field.inside.begin(), field.inside.end()), u_(field.inside.size(), unreached) {
    const auto voxels = voxels_inside(field);
    for (const auto& [voxel, arrival] : starts) u_[voxels[voxel]] = double(arrival), free_[voxels[voxel]] = 0;
  }

  const std::vector<double>& arrival() const { return u_; }
  int sweeps() const { return sweeps_; }

  /// Whether it ends. `may_rise`: new values replace old ones even where they are larger.
  bool until_nothing_changes(const local_update& update, bool may_rise) {
    int still = 0;
    for (const int last = sweeps_ + 4000; sweeps_ < last && still < 8; ++sweeps_)
      still = sweep(sweeps_ % 8, update, may_rise) < 1e-10 ? still + 1 : 0;
    return still == 8;
  }

 private:
  double sweep(int orthant, const local_update& update, bool may_rise) {
    double largest = 0;
    for (std::size_t k = 0; k < size_[2]; ++k)
      for (std::size_t j = 0; j < size_[1]; ++j)
        for (std::size_t i = 0; i < size_[0]; ++i) {
          const std::size_t x = orthant & 1 ? size_[0] - 1 - i : i, y = orthant & 2 ? size_[1] - 1 - j : j,
                            z = orthant & 4 ? size_[2] - 1 - k : k, v = (z * size_[1] + y) * size_[0] + x;
          if (!free_[v]) continue;
          const double next = update(v, u_);
          if (next == u_[v] || (!may_rise && !(next < u_[v]))) continue;
          largest = std::max(largest, u_[v] == unreached ? 1 : std::abs(next - u_[v]) / u_[v]);
          u_[v] = next;
        }
    return largest;
  }

  std::array<std::uint64_t, 3> size_;
  std::vector<std::uint8_t> free_;
  std::vector<double> u_;
  int sweeps_ = 0;
};

}  // namespace

reference_solution solve_reference(const eikonal::speed_field& field, const std::vector<eikonal::start>& starts,
                                   eikonal::scheme_kind scheme, int order) {
  sweeper sweeps(field, starts);
  bool converged = false;
  if (scheme == eikonal::scheme_kind::selling) {
    selling_stencils stencils(field);
    converged = sweeps.until_nothing_changes([&](auto i, const auto& u) { return stencils.first_order(i, u); }, false);
    if (order == 2 && converged) {
      stencils.freeze(sweeps.arrival());
      converged =
          sweeps.until_nothing_changes([&](auto i, const auto& u) { return stencils.second_order(i, u); }, true);
    }
  } else {
    throw std::logic_error("to be merged");
  }
  reference_solution solution{{}, sweeps.sweeps(), converged};
  for (const std::size_t i : voxels_inside(field)) solution.arrival.push_back(sweeps.arrival()[i]);
  return solution;
}

}  // namespace voxherd::reference
