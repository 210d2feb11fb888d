#include "tests/geodesic/reference/geodesic_fields.hpp"

#include <numbers>
#include <random>

#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {

/// Secant method.
double solved_field::length_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const {
  const auto miss = [&](double length) { return distance(x0, end(x0, u0, length)) - metric_length; };
  const vec3 u = unit(u0);
  double before = 0, at = metric_length / std::sqrt(form(u, inverse(D(x0)), u)), miss_before = -metric_length;
  for (int i = 0; i < 30; ++i) {
    const double miss_here = miss(at);
    if (std::abs(miss_here) < 1e-12 * metric_length || miss_here == miss_before) break;
    const double next = at - miss_here * (at - before) / (miss_here - miss_before);
    before = at, miss_before = miss_here, at = next;
  }
  return at;
}

vec3 solved_field::end_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const {
  return end(x0, u0, length_of_metric_length(x0, u0, metric_length));
}

double constant_field::distance(const vec3& x, const vec3& y) const {
  return std::sqrt(form(y - x, inverse(D_), y - x));
}

mat3 conformal_field::D(const vec3& x) const { return 1 / (n(x) * n(x)) * identity3; }

mat3_gradient conformal_field::dD(const vec3& x) const {
  const vec3 g = grad_ln_n(x);
  const mat3 d = D(x);
  return {-2 * g[0] * d, -2 * g[1] * d, -2 * g[2] * d};
}

vec3 conformal_field::end(const vec3& x0, const vec3& u0, double length) const {
  const vec3 u = unit(u0), g = grad_ln_n(x0);
  const vec3 bend = g - dot(g, u) * u;
  const double curvature = norm(bend);
  if (curvature < 1e-12) return x0 + length * u;
  const double angle = curvature * length;
  return x0 + (std::sin(angle) / curvature) * u + ((1 - std::cos(angle)) / (curvature * curvature)) * bend;
}

double hyperbolic_field::distance(const vec3& x, const vec3& y) const {
  return a_ * std::acosh(1 + dot(x - y, x - y) / (2 * x[2] * y[2]));
}

double ball_field::n(const vec3& x) const { return 2 / (1 - dot(x - c_, x - c_) / (R_ * R_)); }

vec3 ball_field::grad_ln_n(const vec3& x) const { return 2 / (R_ * R_ - dot(x - c_, x - c_)) * (x - c_); }

double ball_field::distance(const vec3& x, const vec3& y) const {
  const double R2 = R_ * R_, to_x = R2 - dot(x - c_, x - c_), to_y = R2 - dot(y - c_, y - c_);
  return R_ * std::acosh(1 + 2 * R2 * dot(x - y, x - y) / (to_x * to_y));
}

double fish_eye_field::n(const vec3& x) const { return n0_ / (1 + dot(x - c_, x - c_) / (a_ * a_)); }

vec3 fish_eye_field::grad_ln_n(const vec3& x) const { return -2 / (a_ * a_ + dot(x - c_, x - c_)) * (x - c_); }

double fish_eye_field::distance(const vec3& x, const vec3& y) const {
  const double a2 = a_ * a_, at_x = 1 + dot(x - c_, x - c_) / a2, at_y = 1 + dot(y - c_, y - c_) / a2;
  return n0_ * a_ * std::asin(std::fmin(1, norm(x - y) / (a_ * std::sqrt(at_x * at_y))));
}

vec3 fish_eye_field::focus(const vec3& x0) const {
  const vec3 x = x0 - c_;
  return c_ - (a_ * a_ / dot(x, x)) * x;
}

double fish_eye_field::length_to_focus(const vec3& x0, const vec3& u0) const {
  const vec3 u = unit(u0), g = grad_ln_n(x0);
  const double curvature = norm(g - dot(g, u) * u), chord = norm(focus(x0) - x0);
  const double half_angle = std::asin(std::fmin(1, curvature * chord / 2));
  // Starting towards the centre is the shorter path around the circle.
  const bool shorter = dot(u, focus(x0) - x0) > 0;
  return 2 * (shorter ? half_angle : std::numbers::pi - half_angle) / curvature;
}

pullback_field::pullback_field(double period, const vec3& D0) : k_(2 * std::numbers::pi / period), D0_(D0) {}

vec3 pullback_field::phi(const vec3& x) const {
  return {x[0], x[1] + 6 * std::sin(k_ * x[0]), x[2] + 5 * std::sin(k_ * x[1]) + 4 * std::cos(k_ * x[0])};
}

vec3 pullback_field::phi_inverse(const vec3& y) const {
  const double before = y[1] - 6 * std::sin(k_ * y[0]);
  return {y[0], before, y[2] - 5 * std::sin(k_ * before) - 4 * std::cos(k_ * y[0])};
}

mat3 pullback_field::J(const vec3& x) const {
  const double kx = k_ * x[0], ky = k_ * x[1];
  return {{{1, 0, 0}, {6 * k_ * std::cos(kx), 1, 0}, {-4 * k_ * std::sin(kx), 5 * k_ * std::cos(ky), 1}}};
}

mat3 pullback_field::D(const vec3& x) const {
  const mat3 back = inverse(J(x)), D0{{{D0_[0], 0, 0}, {0, D0_[1], 0}, {0, 0, D0_[2]}}};
  return back * D0 * transposed(back);
}

/// d(J^-1) = -J^-1 dJ J^-1, so dD = -(m D + (m D)^T) with m = J^-1 dJ.
mat3_gradient pullback_field::dD(const vec3& x) const {
  const double kx = k_ * x[0], ky = k_ * x[1], k2 = k_ * k_;
  mat3 by_x{}, by_y{};
  by_x[1][0] = -6 * k2 * std::sin(kx);
  by_x[2][0] = -4 * k2 * std::cos(kx);
  by_y[2][1] = -5 * k2 * std::sin(ky);
  const mat3 back = inverse(J(x)), d = D(x);
  const auto derivative = [&](const mat3& dJ) {
    const mat3 one_side = back * dJ * d;
    return -1 * (one_side + transposed(one_side));
  };
  return {derivative(by_x), derivative(by_y), mat3{}};
}

/// x(t) is known; its length is summed by Simpson's rule in small steps of t until `length` is within one, which is
/// then cut at the correct point by Newton's method.
vec3 pullback_field::end(const vec3& x0, const vec3& u0, double length) const {
  const vec3 y0 = phi(x0), w = J(x0) * unit(u0);
  const auto place = [&](double t) { return phi_inverse(y0 + t * w); };
  const auto speed = [&](double t) { return norm(inverse(J(place(t))) * w); };
  const auto piece = [&](double from, double to) {
    return (to - from) / 6 * (speed(from) + 4 * speed((from + to) / 2) + speed(to));
  };
  const double step = 1e-2;
  double t = 0, done = 0;
  for (double next = piece(0, step); done + next < length; next = piece(t, t + step)) done += next, t += step;
  double last = t;
  for (int i = 0; i < 10; ++i) last -= (done + piece(t, last) - length) / speed(last);
  return place(last);
}

double pullback_field::distance(const vec3& x, const vec3& y) const {
  const vec3 d = phi(y) - phi(x);
  return std::sqrt(d[0] * d[0] / D0_[0] + d[1] * d[1] / D0_[1] + d[2] * d[2] / D0_[2]);
}

mat3 helix_field::D(const vec3& x) const {
  const vec3 t = unit({-(x[1] - c_[1]), x[0] - c_[0], b_});
  return across_ * identity3 + more_ * outer(t, t);
}

mat3_gradient helix_field::dD(const vec3& x) const {
  const vec3 q{-(x[1] - c_[1]), x[0] - c_[0], b_};
  const double square = dot(q, q);
  const auto derivative = [&](const vec3& dq) {
    const mat3 half = outer(dq, q);
    return more_ / square * (half + transposed(half) + -2 * dot(q, dq) / square * outer(q, q));
  };
  return {derivative({0, 1, 0}), derivative({-1, 0, 0}), mat3{}};
}

helix_field::invariants helix_field::ray_invariants(const vec3& x, const vec3& p) const {
  return {form(p, D(x), p), (x[0] - c_[0]) * p[1] - (x[1] - c_[1]) * p[0], p[2]};
}

/// With m = p_theta + b p_z and w = r^2: w'^2 = 4 across (w (E - across p_z^2 - more m^2 / (w + b^2)) - across
/// p_theta^2), of which half the derivative by w is w''. theta' and z' follow from w.
vec3 helix_field::end_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const {
  const mat3 G = inverse(D(x0));
  const vec3 v = 1 / std::sqrt(form(u0, G, u0)) * u0, from = x0 - c_;
  const invariants i = ray_invariants(x0, G * v);
  const double m = i.p_theta + b_ * i.p_z, b2 = b_ * b_;
  using state = std::array<double, 4>;  // w, w', theta, z
  const auto rate = [&](const state& s) -> state {
    const double w = s[0];
    return {s[1], 2 * across_ * (i.energy - across_ * i.p_z * i.p_z - more_ * m * m * b2 / ((w + b2) * (w + b2))),
            across_ * i.p_theta / w + more_ * m / (w + b2), across_ * i.p_z + more_ * b_ * m / (w + b2)};
  };
  const auto moved = [](const state& s, double h, const state& k) {
    return state{s[0] + h * k[0], s[1] + h * k[1], s[2] + h * k[2], s[3] + h * k[3]};
  };
  state s{from[0] * from[0] + from[1] * from[1], 2 * (from[0] * v[0] + from[1] * v[1]), std::atan2(from[1], from[0]),
          from[2]};
  const int steps = 4000;
  const double h = metric_length / steps;
  for (int n = 0; n < steps; ++n) {
    const state k1 = rate(s), k2 = rate(moved(s, h / 2, k1)), k3 = rate(moved(s, h / 2, k2)),
                k4 = rate(moved(s, h, k3));
    s = moved(moved(moved(moved(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  }
  const double r = std::sqrt(s[0]);
  return c_ + vec3{r * std::cos(s[2]), r * std::sin(s[2]), s[3]};
}

mat3_gradient scaled_formula::dD(const vec3& x) const {
  mat3_gradient d = inner_.dD(x);
  for (mat3& m : d) m = factor_ * m;
  return d;
}

sampling_grid make_grid(const tensor_field::tensor_image& image) {
  sampling_grid grid{image.size, {}, {image.origin_mm[0], image.origin_mm[1], image.origin_mm[2]}};
  for (std::size_t i = 0; i < 9; ++i) grid.axes[i / 3][i % 3] = image.axes_mm[i];
  return grid;
}

tensor_field::tensor_image sampled(const tensor_formula& f, const sampling_grid& grid) {
  tensor_field::tensor_image image;
  image.size = grid.size;
  for (std::size_t i = 0; i < 9; ++i) image.axes_mm[i] = grid.axes[i / 3][i % 3];
  image.origin_mm = grid.origin;
  for (std::uint64_t z = 0; z < grid.size[2]; ++z)
    for (std::uint64_t y = 0; y < grid.size[1]; ++y)
      for (std::uint64_t x = 0; x < grid.size[0]; ++x) {
        const mat3 d = f.D(grid.world({double(x), double(y), double(z)}));
        for (const double c : {d[0][0], d[0][1], d[0][2], d[1][1], d[1][2], d[2][2]})
          image.tensor.push_back(static_cast<float>(c));
      }
  image.inside.assign(image.tensor.size() / 6, 1);
  return image;
}

namespace {

using scalar_function = double (*)(double);

/// f of the symmetric matrix with these six elements: of its eigenvalues.
std::array<double, 6> of_eigenvalues(scalar_function f, const std::array<double, 6>& t) {
  square_matrix m(3);
  m.values = {t[0], t[1], t[2], t[1], t[3], t[4], t[2], t[4], t[5]};
  const eigen_system e = jacobi_eigen(m);
  std::array<double, 6> result{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double v = f(e.values[k]), x = e.vectors(0, k), y = e.vectors(1, k), z = e.vectors(2, k);
    const std::array<double, 6> square{x * x, x * y, x * z, y * y, y * z, z * z};
    for (std::size_t c = 0; c < 6; ++c) result[c] += v * square[c];
  }
  return result;
}

}  // namespace

void add_log_noise(tensor_field::tensor_image& image, double sigma, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    std::array<double, 6> t;
    for (std::size_t c = 0; c < 6; ++c) t[c] = image.tensor[6 * i + c];
    t = of_eigenvalues([](double x) { return std::log(x); }, t);
    for (std::size_t c = 0; c < 6; ++c) {
      const bool diagonal = c == 0 || c == 3 || c == 5;
      t[c] += sigma * (diagonal ? 1 : std::sqrt(0.5)) * normal(random);
    }
    t = of_eigenvalues([](double x) { return std::exp(x); }, t);
    for (std::size_t c = 0; c < 6; ++c) image.tensor[6 * i + c] = static_cast<float>(t[c]);
  }
}

}  // namespace voxherd::reference
