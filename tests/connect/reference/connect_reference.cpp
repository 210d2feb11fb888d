#include "tests/connect/reference/connect_reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/connect/lattice_builder.hpp"
#include "tests/connect/reference/connect_updates.hpp"

namespace voxherd::reference {

std::vector<std::size_t> voxels_inside(const connect::speed_field& field) {
  std::vector<std::size_t> voxels;
  for (std::size_t i = 0; i < field.inside.size(); ++i)
    if (field.inside[i]) voxels.push_back(i);
  return voxels;
}

namespace {

constexpr double unreached = INFINITY;
constexpr std::size_t nowhere = ~std::size_t{0};

/// A scheme's update of one voxel of the grid from all arrival times (nz, ny, nx); infinite outside the mask.
using local_update = std::function<double(std::size_t linear, const std::vector<double>& arrival)>;

std::array<double, 6> tensor_at(const connect::speed_field& field, std::size_t linear) {
  std::array<double, 6> S;
  for (std::size_t i = 0; i < 6; ++i) S[i] = double(field.tensors[8 * linear + i]);
  return S;
}

voxel3 voxel_indices(const connect::speed_field& field, std::size_t linear) {
  const long nx = long(field.size[0]), ny = long(field.size[1]);
  return {long(linear) % nx, long(linear) / nx % ny, long(linear) / nx / ny};
}

std::size_t moved(const connect::speed_field& field, std::size_t linear, const voxel3& e) {
  return std::size_t(long(linear) + e[0] + long(field.size[0]) * (e[1] + long(field.size[1]) * e[2]));
}

/// A voxel's neighbours along one direction; missing if a step is not open.
struct neighbour_pair {
  double weight = 0;
  std::array<std::size_t, 2> near{nowhere, nowhere}, far{nowhere, nowhere};
};

/// Straight steps across faces for the cells that need them according to the solver.
class face_steps {
 public:
  explicit face_steps(const connect::speed_field& field) : field_(field), needs_(field.inside.size()) {
    const connect::lattice l = connect::build_lattice(field, 1);
    const auto needs = connect::cells_that_need_nets(l);
    for (const std::size_t i : voxels_inside(field))
      needs_[i] = !needs.empty() && needs[std::size_t(l.cell_of[i])] != 0;
  }

  double operator()(std::size_t i, const std::vector<double>& u) const {
    if (!needs_[i]) return unreached;
    const auto s = tensor_at(field_, i);
    const mat3 G = inverse(mat3{{{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}}});
    double least = unreached;
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const long side : {-1, 1}) {
        voxel3 e{0, 0, 0};
        e[axis] = side;
        if (step_is_open(field_, voxel_indices(field_, i), e))
          least = std::min(least, u[moved(field_, i, e)] + std::sqrt(G[axis][axis]));
      }
    return least;
  }

 private:
  const connect::speed_field& field_;
  std::vector<bool> needs_;
};

class selling_stencils {
 public:
  explicit selling_stencils(const connect::speed_field& field) : pairs_(field.inside.size()), net_(field) {
    for (const std::size_t i : voxels_inside(field)) {
      const voxel3 x = voxel_indices(field, i);
      const auto directions = selling_decomposition_vectors(tensor_at(field, i));
      for (std::size_t n = 0; n < 6; ++n) {
        const auto& [weight, e] = directions[n];
        pairs_[i][n].weight = weight;
        for (std::size_t side = 0; side < 2 && weight > 0; ++side) {
          const long s = side == 0 ? 1 : -1;
          const voxel3 step{s * e[0], s * e[1], s * e[2]};
          const voxel3 near{x[0] + step[0], x[1] + step[1], x[2] + step[2]};
          if (!step_is_open(field, x, step)) continue;
          pairs_[i][n].near[side] = moved(field, i, step);
          if (step_is_open(field, near, step)) pairs_[i][n].far[side] = moved(field, moved(field, i, step), step);
        }
      }
    }
  }

  double first_order(std::size_t i, const std::vector<double>& u) const {
    std::vector<upwind_term> terms;
    for (const auto& p : pairs_[i]) terms.push_back({p.weight, std::min(at(u, p.near[0]), at(u, p.near[1]))});
    return std::min(upwind_root(terms), net_(i, u));
  }

  /// Keeps of each pair the smaller neighbour if it is smaller than the voxel, and the one behind it if that is smaller
  /// still; the remaining system depends only on earlier voxels.
  void freeze(const std::vector<double>& u) {
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      for (auto& p : pairs_[i]) {
        const std::size_t side = at(u, p.near[1]) < at(u, p.near[0]) ? 1 : 0;
        p.near = {p.near[side], nowhere}, p.far = {p.far[side], nowhere};
        if (!(at(u, p.near[0]) < u[i])) p.near[0] = nowhere;
        if (!(at(u, p.far[0]) < at(u, p.near[0]))) p.far[0] = nowhere;
      }
  }

  double second_order(std::size_t i, const std::vector<double>& u) const {
    std::vector<upwind_term> terms;
    for (const auto& p : pairs_[i]) {
      const double near = at(u, p.near[0]), far = at(u, p.far[0]);
      if (far < near)
        terms.push_back({9 * p.weight / 4, near + (near - far) / 3});
      else
        terms.push_back({p.weight, near});
    }
    return std::min(upwind_root(terms), net_(i, u));
  }

 private:
  static double at(const std::vector<double>& u, std::size_t i) { return i == nowhere ? unreached : u[i]; }

  std::vector<std::array<neighbour_pair, 6>> pairs_;
  face_steps net_;
};

/// Hopf-Lax: the least-cost straight path from a simplex between neighbours. With the simplices of the octants this
/// equals Godunov's Hamiltonian wherever the paper's scheme has a solution.
class simplex_stencils {
 public:
  simplex_stencils(const connect::speed_field& field, const std::vector<std::vector<voxel3>>& simplices)
      : field_(field), simplices_(simplices) {}

  double operator()(std::size_t i, const std::vector<double>& u) const {
    const auto s = tensor_at(field_, i);
    const mat3 S{{{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}}};
    const voxel3 x = voxel_indices(field_, i);
    std::array<double, 27> value;  // of the neighbour (dx, dy, dz) at 13 + dx + 3 dy + 9 dz
    double first = unreached;
    for (long n = 0; n < 27; ++n) {
      const voxel3 e{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      value[std::size_t(n)] = n != 13 && step_is_open(field_, x, e) ? u[moved(field_, i, e)] : unreached;
      first = std::min(first, value[std::size_t(n)]);
    }
    if (!(first < u[i])) return unreached;  // paths never come from later voxels
    double least = unreached;
    std::vector<double> values;
    for (const auto& vertices : simplices_) {
      values.clear();
      for (const voxel3& e : vertices) values.push_back(value[std::size_t(13 + e[0] + 3 * e[1] + 9 * e[2])]);
      if (*std::max_element(values.begin(), values.end()) < unreached)
        least = std::min(least, simplex_cost(S, vertices, values));
    }
    return least;
  }

 private:
  const connect::speed_field& field_;
  std::vector<std::vector<voxel3>> simplices_;
};

/// Sweeps over the voxels.
class sweeper {
 public:
  sweeper(const connect::speed_field& field, const std::vector<connect::start>& starts)
      : size_(field.size), free_(field.inside.begin(), field.inside.end()), u_(field.inside.size(), unreached) {
    const auto voxels = voxels_inside(field);
    for (const auto& [voxel, arrival] : starts) u_[voxels[voxel]] = double(arrival), starts_.push_back(voxels[voxel]);
  }

  void fix_starts() {
    for (const std::size_t i : starts_) free_[i] = 0;
  }

  const std::vector<double>& arrival() const { return u_; }
  int sweeps() const { return sweeps_; }

  /// Returns whether the iteration converges. `may_rise`: new values replace old ones even if they are larger.
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
  std::vector<std::size_t> starts_;
  std::vector<double> u_;
  int sweeps_ = 0;
};

}  // namespace

reference_solution solve_reference(const connect::speed_field& field, const std::vector<connect::start>& starts,
                                   connect::scheme_kind scheme, int order) {
  sweeper sweeps(field, starts);
  bool converged = false;
  if (scheme == connect::scheme_kind::selling) {
    selling_stencils stencils(field);
    converged = sweeps.until_nothing_changes([&](auto i, const auto& u) { return stencils.first_order(i, u); }, false);
    if (order == 2 && converged) {
      stencils.freeze(sweeps.arrival());
      sweeps.fix_starts();
      converged =
          sweeps.until_nothing_changes([&](auto i, const auto& u) { return stencils.second_order(i, u); }, true);
    }
  } else {
    const auto simplices = scheme == connect::scheme_kind::hl26 ? cube_simplices() : octant_simplices();
    converged = sweeps.until_nothing_changes(simplex_stencils(field, simplices), false);
  }
  reference_solution solution{{}, sweeps.sweeps(), converged};
  for (const std::size_t i : voxels_inside(field)) solution.arrival.push_back(sweeps.arrival()[i]);
  return solution;
}

}  // namespace voxherd::reference
