#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"

#include <algorithm>

namespace voxherd::reference {

namespace {

struct vertex {
  perfusion_parameters x{};
  double f = 0;
};

class simplex {
 public:
  simplex(const std::function<double(const perfusion_parameters&)>& f, const perfusion_parameters& start,
          const simplex_rules& rules)
      : f_(f), rules_(rules) {
    vertices_.push_back(evaluated(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (rules.fixed[i]) continue;
      perfusion_parameters x = start;
      x[i] = x[i] == 0 ? 0.00025 : 1.05 * x[i];
      vertices_.push_back(evaluated(x));
    }
    sort();
  }

  simplex_fit run() {
    while (fit_.iterations < rules_.max_iterations && !has_converged()) {
      const simplex_action action = step();
      ++fit_.iterations;
      fit_.trace.push_back({action, vertices_.front().f, vertices_.back().f, vertices_.front().x});
    }
    fit_.converged = has_converged();
    fit_.best = vertices_.front().x;
    fit_.cost = vertices_.front().f;
    return fit_;
  }

 private:
  vertex evaluated(const perfusion_parameters& x) {
    ++fit_.evaluations;
    return {x, f_(x)};
  }

  /// m + factor * (direction from m)
  vertex from_centre(const perfusion_parameters& m, double factor, const perfusion_parameters& to) {
    perfusion_parameters x{};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = m[i] + factor * (to[i] - m[i]);
    return evaluated(x);
  }

  perfusion_parameters centroid() const {
    perfusion_parameters m{};
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (std::size_t v = 0; v + 1 < vertices_.size(); ++v) m[i] += vertices_[v].x[i];
      m[i] /= static_cast<double>(vertices_.size() - 1);
    }
    return m;
  }

  simplex_action step() {
    const perfusion_parameters m = centroid();
    const vertex worst = vertices_.back(), second = vertices_[vertices_.size() - 2];
    const vertex r = from_centre(m, -1, worst.x);
    if (r.f < vertices_.front().f) {
      const vertex e = from_centre(m, -2, worst.x);
      return e.f < r.f ? take(e, simplex_action::expand) : take(r, simplex_action::reflect);
    }
    if (r.f < second.f) return take(r, simplex_action::reflect);
    if (r.f < worst.f) {
      const vertex c = from_centre(m, 0.5, r.x);
      return c.f <= r.f ? take(c, simplex_action::outside) : shrink();
    }
    const vertex c = from_centre(m, 0.5, worst.x);
    return c.f < worst.f ? take(c, simplex_action::inside) : shrink();
  }

  /// A new vertex is placed after old ones with the same value.
  simplex_action take(const vertex& v, simplex_action action) {
    vertices_.back() = v;
    sort();
    return action;
  }

  simplex_action shrink() {
    const perfusion_parameters first = vertices_.front().x;
    for (std::size_t v = 1; v < vertices_.size(); ++v) vertices_[v] = from_centre(first, 0.5, vertices_[v].x);
    sort();
    return simplex_action::shrink;
  }

  void sort() {
    std::stable_sort(vertices_.begin(), vertices_.end(), [](const vertex& a, const vertex& b) { return a.f < b.f; });
  }

  bool has_converged() const {
    const double range = vertices_.back().f - vertices_.front().f;
    return range < rules_.absolute_tolerance || range < rules_.relative_tolerance * vertices_.front().f;
  }

  const std::function<double(const perfusion_parameters&)>& f_;
  const simplex_rules& rules_;
  std::vector<vertex> vertices_;
  simplex_fit fit_;
};

}  // namespace

simplex_fit nelder_mead(const std::function<double(const perfusion_parameters&)>& f, const perfusion_parameters& start,
                        const simplex_rules& rules) {
  return simplex(f, start, rules).run();
}

}  // namespace voxherd::reference
