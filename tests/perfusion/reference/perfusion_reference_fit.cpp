#include "tests/perfusion/reference/perfusion_reference_fit.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::reference {

namespace {

using namespace perfusion;
using matrix5 = std::array<std::array<double, dual_parameters>, dual_parameters>;
using mask5 = std::array<bool, dual_parameters>;

/// J'J and J'(y - C) over the counted frames.
struct equations5 {
  matrix5 hessian{};
  perfusion_parameters gradient{};
};

equations5 equations_at(const time_course& frames, discretisation_kind how, const perfusion_parameters& p,
                        const std::vector<double>* y) {
  const auto jacobian = perfusion_jacobian(frames, how, p);
  const auto c = perfusion_curve(frames, how, p);
  equations5 e;
  for (std::size_t f = 0; f < c.size(); ++f) {
    if (frames.counts[f] == 0) continue;
    for (std::size_t a = 0; a < dual_parameters; ++a) {
      if (y != nullptr) e.gradient[a] += jacobian[a][f] * ((*y)[f] - c[f]);
      for (std::size_t b = 0; b < dual_parameters; ++b) e.hessian[a][b] += jacobian[a][f] * jacobian[b][f];
    }
  }
  return e;
}

/// Inverse over the rows and columns that are not held, zero elsewhere: Gauss-Jordan with scaled rows and columns.
matrix5 invert(const matrix5& m, const mask5& held) {
  std::array<double, dual_parameters> scale{};
  matrix5 a{}, inverse{};
  for (std::size_t i = 0; i < dual_parameters; ++i) scale[i] = held[i] ? 0 : 1 / std::sqrt(m[i][i]);
  for (std::size_t i = 0; i < dual_parameters; ++i)
    for (std::size_t j = 0; j < dual_parameters; ++j) {
      a[i][j] = held[i] || held[j] ? (i == j) : m[i][j] * scale[i] * scale[j];
      inverse[i][j] = i == j;
    }
  for (std::size_t i = 0; i < dual_parameters; ++i) {
    std::size_t best = i;
    for (std::size_t r = i; r < dual_parameters; ++r)
      if (std::fabs(a[r][i]) > std::fabs(a[best][i])) best = r;
    std::swap(a[i], a[best]), std::swap(inverse[i], inverse[best]);
    const double pivot = a[i][i];
    for (std::size_t c = 0; c < dual_parameters; ++c) a[i][c] /= pivot, inverse[i][c] /= pivot;
    for (std::size_t r = 0; r < dual_parameters; ++r) {
      if (r == i) continue;
      const double factor = a[r][i];
      for (std::size_t c = 0; c < dual_parameters; ++c)
        a[r][c] -= factor * a[i][c], inverse[r][c] -= factor * inverse[i][c];
    }
  }
  for (std::size_t i = 0; i < dual_parameters; ++i)
    for (std::size_t j = 0; j < dual_parameters; ++j) inverse[i][j] *= scale[i] * scale[j];
  return inverse;
}

perfusion_parameters clamped(perfusion_parameters p, const perfusion_rules& rules) {
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = rules[i].fixed ? rules[i].start : std::clamp(p[i], rules[i].least, rules[i].most);
  return p;
}

/// Fixed, or at a bound that the cost pushes against, or without influence.
mask5 held_at(const perfusion_parameters& p, const perfusion_rules& rules, const equations5& e) {
  mask5 held{};
  for (std::size_t i = 0; i < p.size(); ++i)
    held[i] = rules[i].fixed || !(e.hessian[i][i] > 0) || (p[i] <= rules[i].least && e.gradient[i] < 0) ||
              (p[i] >= rules[i].most && e.gradient[i] > 0);
  return held;
}

double dot(const std::vector<double>& a, const std::vector<double>& b, const time_course& frames) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (frames.counts[i] != 0) sum += a[i] * b[i];
  return sum;
}

/// The minimum of y'y - 2 b'x + x'Mx within two bounds: free, or on one of the four edges.
struct two_flows {
  double aa, ap, pp, ya, yp, yy;
  parameter_rule arterial, portal;

  double cost(double a, double p) const {
    return yy - 2 * (ya * a + yp * p) + aa * a * a + 2 * ap * a * p + pp * p * p;
  }

  perfusion_fit best() const {
    perfusion_fit fit;
    fit.cost = HUGE_VAL;
    const auto consider = [&](double a, double p) {
      if (!(a >= arterial.least && a <= arterial.most && p >= portal.least && p <= portal.most)) return;
      if (cost(a, p) < fit.cost) fit = {{0, a, p, 0, 0}, cost(a, p)};
    };
    const double determinant = aa * pp - ap * ap;
    if (determinant > 0) consider((ya * pp - yp * ap) / determinant, (yp * aa - ya * ap) / determinant);
    for (const double a : {arterial.least, arterial.most})
      consider(a, pp > 0 ? std::clamp((yp - ap * a) / pp, portal.least, portal.most) : portal.least);
    for (const double p : {portal.least, portal.most})
      consider(aa > 0 ? std::clamp((ya - ap * p) / aa, arterial.least, arterial.most) : arterial.least, p);
    return fit;
  }
};

std::vector<double> spaced(const parameter_rule& r, std::size_t count, bool logarithmic) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(logarithmic ? r.least * std::pow(r.most / r.least, part) : r.least + (r.most - r.least) * part);
  }
  return r.fixed ? std::vector<double>{r.start} : values;
}

parameter_rule with_fixed_bounds(parameter_rule r) {
  if (r.fixed) r.least = r.most = r.start;
  return r;
}

}  // namespace

perfusion_fit polish(const time_course& frames, discretisation_kind how, const perfusion_rules& rules,
                     const std::vector<double>& y, perfusion_parameters start) {
  perfusion_fit fit;
  fit.best = clamped(start, rules);
  fit.cost = perfusion_cost(frames, how, fit.best, y);
  double damping = 1e-3;
  for (int i = 0; i < 200 && damping < 1e12; ++i) {
    const equations5 e = equations_at(frames, how, fit.best, &y);
    const mask5 held = held_at(fit.best, rules, e);
    const double before = fit.cost;
    for (; damping < 1e12; damping *= 10) {
      matrix5 damped = e.hessian;
      for (std::size_t a = 0; a < dual_parameters; ++a) damped[a][a] *= 1 + damping;
      const matrix5 inverse = invert(damped, held);
      perfusion_parameters next = fit.best;
      for (std::size_t a = 0; a < dual_parameters; ++a)
        for (std::size_t b = 0; b < dual_parameters; ++b) next[a] += inverse[a][b] * e.gradient[b];
      next = clamped(next, rules);
      const double cost = perfusion_cost(frames, how, next, y);
      if (!(cost < fit.cost)) continue;
      fit = {next, cost};
      damping /= 10;
      break;
    }
    if (before - fit.cost <= 1e-13 * fit.cost) break;
  }
  return fit;
}

global_search::global_search(const time_course& frames, discretisation_kind how, const perfusion_rules& rules,
                             std::size_t rates, std::size_t delays)
    : frames_(frames),
      how_(how),
      rules_(rules),
      rates_(spaced(rules[kl], rates, true)),
      arterial_delays_(spaced(rules[tau_a], delays, false)),
      portal_delays_(spaced(rules[tau_p], delays, false)) {
  for (const double k : rates_) {
    arterial_.emplace_back(), portal_.emplace_back();
    for (const double tau : arterial_delays_)
      arterial_.back().push_back(perfusion_curve(frames, how, {k, 1, 0, tau, 0}));
    for (const double tau : portal_delays_) portal_.back().push_back(perfusion_curve(frames, how, {k, 0, 1, 0, tau}));
  }
}

std::vector<perfusion_fit> global_search::local_minima(const std::vector<double>& y) const {
  const std::size_t n = rates_.size(), m = arterial_delays_.size(), l = portal_delays_.size();
  std::vector<perfusion_fit> grid(n * m * l);
  const auto at = [&](std::size_t i, std::size_t a, std::size_t p) { return (i * m + a) * l + p; };
  const double yy = dot(y, y, frames_);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t p = 0; p < l; ++p) {
        const curve &ga = arterial_[i][a], &gp = portal_[i][p];
        const two_flows flows{dot(ga, ga, frames_),          dot(ga, gp, frames_),         dot(gp, gp, frames_),
                              dot(ga, y, frames_),           dot(gp, y, frames_),          yy,
                              with_fixed_bounds(rules_[ka]), with_fixed_bounds(rules_[kp])};
        perfusion_fit& fit = grid[at(i, a, p)];
        fit = flows.best();
        fit.best[kl] = rates_[i], fit.best[tau_a] = arterial_delays_[a], fit.best[tau_p] = portal_delays_[p];
      }
  std::vector<perfusion_fit> minima;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t p = 0; p < l; ++p) {
        const double cost = grid[at(i, a, p)].cost;
        const bool lowest =
            (i == 0 || cost <= grid[at(i - 1, a, p)].cost) && (i + 1 == n || cost <= grid[at(i + 1, a, p)].cost) &&
            (a == 0 || cost <= grid[at(i, a - 1, p)].cost) && (a + 1 == m || cost <= grid[at(i, a + 1, p)].cost) &&
            (p == 0 || cost <= grid[at(i, a, p - 1)].cost) && (p + 1 == l || cost <= grid[at(i, a, p + 1)].cost);
        if (lowest) minima.push_back(grid[at(i, a, p)]);
      }
  std::stable_sort(minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
  return minima;
}

perfusion_fit global_search::operator()(const std::vector<double>& y, std::size_t polished) const {
  auto minima = local_minima(y);
  minima.resize(std::min(minima.size(), polished));
  perfusion_fit best;
  best.cost = HUGE_VAL;
  for (const auto& start : minima) {
    const perfusion_fit end = polish(frames_, how_, rules_, y, start.best);
    if (end.cost < best.cost) best = end;
  }
  return best;
}

matrix5 inverse_information(const time_course& frames, discretisation_kind how, const perfusion_parameters& p,
                            const mask5& held) {
  return invert(equations_at(frames, how, p, nullptr).hessian, held);
}

perfusion_parameters standard_deviations(const time_course& frames, discretisation_kind how,
                                         const perfusion_parameters& p, double cost, const mask5& held) {
  const auto inverse = inverse_information(frames, how, p, held);
  const auto free = static_cast<double>(std::count(held.begin(), held.end(), false));
  perfusion_parameters sd{};
  for (std::size_t i = 0; i < dual_parameters; ++i)
    sd[i] = std::sqrt(inverse[i][i] * cost / (static_cast<double>(frames.counted()) - free));
  return sd;
}

}  // namespace voxherd::reference
