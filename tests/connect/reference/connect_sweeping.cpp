#include "tests/connect/reference/connect_sweeping.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/connect/paper/godunov27.hpp"
#include "tests/portable/reference/small_matrix.hpp"

namespace voxherd::reference {
namespace {

constexpr double far_away = 1e30;
constexpr int max_sweeps = 20000;

/// One voxel of the mask. Neighbours are indices of voxels of the mask; -1 outside.
struct cell {
  explicit cell(const double (&s)[6]) : S{s[0], s[1], s[2], s[3], s[4], s[5]}, update(s) {}
  std::array<double, 6> S;
  connect::godunov27<double> update;
  std::array<int, 3> before{}, after{};
};

double at(const std::vector<double>& u, int i) { return i < 0 ? far_away : u[static_cast<std::size_t>(i)]; }

double godunov(const cell& c, const std::vector<double>& u, double old) {
  double before[3], after[3];
  for (std::size_t d = 0; d < 3; ++d) before[d] = at(u, c.before[d]), after[d] = at(u, c.after[d]);
  if (!(std::min({before[0], before[1], before[2], after[0], after[1], after[2]}) < old)) return old;
  return c.update(before, after, old);
}

/// With a_d = sqrt(S_dd), the largest derivative of H(p) = sqrt(p . S p) by p_d, the update does not decrease if a
/// neighbour increases. H is 1.
double lax_friedrichs(const cell& c, const std::vector<double>& u, double old) {
  const double a[3] = {std::sqrt(c.S[0]), std::sqrt(c.S[3]), std::sqrt(c.S[5])};
  double p[3], mean = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    double low = at(u, c.before[d]), high = at(u, c.after[d]);
    if (c.before[d] < 0 && c.after[d] < 0) low = high = old;
    if (c.before[d] < 0) low = std::max(2 * old - high, high);
    if (c.after[d] < 0) high = std::max(2 * old - low, low);
    p[d] = (high - low) / 2;
    mean += a[d] * (high + low) / 2;
  }
  const auto& S = c.S;
  const double square = S[0] * p[0] * p[0] + S[3] * p[1] * p[1] + S[5] * p[2] * p[2] +
                        2 * (S[1] * p[0] * p[1] + S[2] * p[0] * p[2] + S[4] * p[1] * p[2]);
  return (1 - std::sqrt(std::max(0.0, square)) + mean) / (a[0] + a[1] + a[2]);
}

class grid {
 public:
  explicit grid(const connect::speed_field& field) : size_(field.size), number_(field.inside.size(), -1) {
    for (std::size_t i = 0; i < number_.size(); ++i)
      if (field.inside[i]) number_[i] = static_cast<int>(count_++);
    const std::array<std::size_t, 3> stride{1, size_[0], size_[0] * size_[1]};
    for (std::size_t i = 0; i < number_.size(); ++i) {
      if (number_[i] < 0) continue;
      double s[6];
      for (std::size_t n = 0; n < 6; ++n) s[n] = static_cast<double>(field.tensors[8 * i + n]);
      cell c(s);
      for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t x = i / stride[d] % size_[d];
        c.before[d] = x > 0 ? number_[i - stride[d]] : -1;
        c.after[d] = x + 1 < size_[d] ? number_[i + stride[d]] : -1;
      }
      cells_.push_back(c);
    }
  }

  std::size_t count() const { return count_; }

  /// Later than any arrival time: steps along axes through the volume at the lowest speed.
  double latest() const {
    double slowest = 0;
    for (const cell& c : cells_) {
      const mat3 G = inverse({{{c.S[0], c.S[1], c.S[2]}, {c.S[1], c.S[3], c.S[4]}, {c.S[2], c.S[4], c.S[5]}}});
      slowest = std::max({slowest, G[0][0], G[1][1], G[2][2]});
    }
    return std::sqrt(slowest) * static_cast<double>(size_[0] + size_[1] + size_[2]);
  }
  const cell& operator[](int n) const { return cells_[static_cast<std::size_t>(n)]; }

  /// Calls visit(n) for the voxels of the mask; bits of `order` reverse the axes.
  template <class Visit>
  void each(int order, const Visit& visit) const {
    const auto index = [&](std::size_t d, std::size_t i) { return order >> d & 1 ? size_[d] - 1 - i : i; };
    for (std::size_t k = 0; k < size_[2]; ++k)
      for (std::size_t j = 0; j < size_[1]; ++j)
        for (std::size_t i = 0; i < size_[0]; ++i) {
          const int n = number_[(index(2, k) * size_[1] + index(1, j)) * size_[0] + index(0, i)];
          if (n >= 0) visit(n);
        }
  }

 private:
  std::array<std::uint64_t, 3> size_;
  std::vector<int> number_;
  std::vector<cell> cells_;
  std::size_t count_ = 0;
};

}  // namespace

sweeping_solution solve_by_sweeping(const connect::speed_field& field, const std::vector<connect::start>& starts,
                                    sweeping_scheme scheme, double tolerance) {
  const grid voxels(field);
  // The Lax-Friedrichs update averages its neighbours, so that it needs many sweeps from a value that is far too late.
  std::vector<double> u(voxels.count(), scheme == sweeping_scheme::godunov ? far_away : voxels.latest());
  std::vector<std::uint8_t> fixed(voxels.count());
  for (const auto& [voxel, arrival] : starts) u[voxel] = static_cast<double>(arrival), fixed[voxel] = 1;
  sweeping_solution solution;
  int still = 0;
  for (; solution.sweeps < max_sweeps && still < 8; ++solution.sweeps) {
    double largest = 0;
    voxels.each(solution.sweeps % 8, [&](int n) {
      double& here = u[static_cast<std::size_t>(n)];
      if (fixed[static_cast<std::size_t>(n)]) return;
      const double next = (scheme == sweeping_scheme::godunov ? godunov : lax_friedrichs)(voxels[n], u, here);
      if (!(next < here)) return;
      largest = std::max(largest, (here - next) / here);
      here = next;
    });
    still = largest < tolerance ? still + 1 : 0;
  }
  solution.converged = still == 8;
  solution.arrival.assign(u.begin(), u.end());
  return solution;
}

}  // namespace voxherd::reference
