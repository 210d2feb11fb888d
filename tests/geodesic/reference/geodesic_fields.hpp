#pragma once

#include "kernels/tensor_field/field.hpp"
#include "tests/portable/reference/small_matrix.hpp"

namespace voxherd::reference {

using mat3_gradient = std::array<mat3, 3>;  ///< derivatives along x, y, z

/// A tensor field D(x) in world coordinates (mm), given as a formula; its metric is G = D^-1.
class tensor_formula {
 public:
  virtual ~tensor_formula() = default;
  virtual mat3 D(const vec3& x) const = 0;
  virtual mat3_gradient dD(const vec3& x) const = 0;
};

/// A field with known geodesics. Lengths are Euclidean, in mm, unless stated otherwise.
class solved_field : public tensor_formula {
 public:
  /// Where the geodesic from x0 along u0 (any length but zero) is after `length`.
  virtual vec3 end(const vec3& x0, const vec3& u0, double length) const = 0;

  /// Length in the metric of the shortest geodesic from x to y.
  virtual double distance(const vec3& x, const vec3& y) const = 0;

  /// The Euclidean length that corresponds to a length in the metric, computed from the two above while the geodesic is
  /// the shortest, and the position after it.
  double length_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const;
  vec3 end_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const;
};

/// The same tensor everywhere: straight lines.
class constant_field final : public solved_field {
 public:
  explicit constant_field(const mat3& tensor) : D_(tensor) {}
  mat3 D(const vec3&) const override { return D_; }
  mat3_gradient dD(const vec3&) const override { return {}; }
  vec3 end(const vec3& x0, const vec3& u0, double length) const override { return x0 + length * unit(u0); }
  double distance(const vec3& x, const vec3& y) const override;

 private:
  mat3 D_;
};

/// G = n(x)^2 I, light in glass of refractive index n. Its rays have the curvature vector grad ln n less its part along
/// the ray. Those here are the three of constant sectional curvature, whose rays are circles.
class conformal_field : public solved_field {
 public:
  virtual double n(const vec3& x) const = 0;
  virtual vec3 grad_ln_n(const vec3& x) const = 0;
  mat3 D(const vec3& x) const override;
  mat3_gradient dD(const vec3& x) const override;
  vec3 end(const vec3& x0, const vec3& u0, double length) const override;
};

/// n = a / z: the hyperbolic half space z > 0. Semicircles centred on z = 0.
class hyperbolic_field final : public conformal_field {
 public:
  explicit hyperbolic_field(double a) : a_(a) {}
  double n(const vec3& x) const override { return a_ / x[2]; }
  vec3 grad_ln_n(const vec3& x) const override { return {0, 0, -1 / x[2]}; }
  double distance(const vec3& x, const vec3& y) const override;

 private:
  double a_;
};

/// n = 2 / (1 - |x - c|^2 / R^2): the Poincare ball about c. Circles that meet its surface at right angles.
class ball_field final : public conformal_field {
 public:
  ball_field(double R, const vec3& centre) : R_(R), c_(centre) {}
  double n(const vec3& x) const override;
  vec3 grad_ln_n(const vec3& x) const override;
  double distance(const vec3& x, const vec3& y) const override;

 private:
  double R_;
  vec3 c_;
};

/// n = n0 / (1 + |x - c|^2 / a^2): Maxwell's fish-eye, a sphere projected stereographically. All geodesics from x0 meet
/// again at focus(x0), at a metric length of pi n0 a / 2.
class fish_eye_field final : public conformal_field {
 public:
  fish_eye_field(double a, double n0, const vec3& centre) : a_(a), n0_(n0), c_(centre) {}
  double n(const vec3& x) const override;
  vec3 grad_ln_n(const vec3& x) const override;
  double distance(const vec3& x, const vec3& y) const override;
  vec3 focus(const vec3& x0) const;
  /// Euclidean length from x0 along u0 to the focus.
  double length_to_focus(const vec3& x0, const vec3& u0) const;

 private:
  double a_, n0_;
  vec3 c_;
};

/// phi(x, y, z) = (x, y + 6 sin kx, z + 5 sin ky + 4 cos kx), k = 2 pi / period, makes a constant metric of this one:
/// G = J^T G0 J, with the full, turning tensors D = J^-1 D0 J^-T. Geodesics are straight in phi.
class pullback_field final : public solved_field {
 public:
  explicit pullback_field(double period = 64, const vec3& D0 = {1, 0.2, 0.1});
  mat3 D(const vec3& x) const override;
  mat3_gradient dD(const vec3& x) const override;
  vec3 end(const vec3& x0, const vec3& u0, double length) const override;
  double distance(const vec3& x, const vec3& y) const override;

  vec3 phi(const vec3& x) const;
  vec3 phi_inverse(const vec3& y) const;
  mat3 J(const vec3& x) const;

 private:
  double k_;
  vec3 D0_;  ///< diagonal
};

/// Fibres wound round the axis through c along z: D = across I + (along - across) t t^T, t along (-y, x, b). Momenta
/// about and along the axis are conserved beside the energy.
class helix_field final : public tensor_formula {
 public:
  helix_field(double along, double across, double b, const vec3& centre)
      : across_(across), more_(along - across), b_(b), c_(centre) {}
  mat3 D(const vec3& x) const override;
  mat3_gradient dD(const vec3& x) const override;

  struct invariants {
    double energy, p_theta, p_z;  ///< p D p, x p_y - y p_x, p_z
  };
  invariants ray_invariants(const vec3& x, const vec3& p) const;

  /// Position after a metric length of the geodesic from x0 along u0 (any length but zero): the conserved momenta leave
  /// one equation for r^2, solved in 4,000 steps.
  vec3 end_of_metric_length(const vec3& x0, const vec3& u0, double metric_length) const;

 private:
  double across_, more_, b_;
  vec3 c_;
};

/// `inner` with D multiplied by a constant: the same curves, metric lengths divided by its root.
class scaled_formula final : public tensor_formula {
 public:
  scaled_formula(const tensor_formula& inner, double factor) : inner_(inner), factor_(factor) {}
  mat3 D(const vec3& x) const override { return factor_ * inner_.D(x); }
  mat3_gradient dD(const vec3& x) const override;

 private:
  const tensor_formula& inner_;
  double factor_;
};

/// A grid in the world.
struct sampling_grid {
  std::array<std::uint64_t, 3> size{};
  mat3 axes = identity3;  ///< columns: world vector (mm) of one voxel along each image axis
  vec3 origin{};          ///< world position of the centre of voxel (0, 0, 0)

  vec3 world(const vec3& voxel) const { return origin + axes * voxel; }
  vec3 voxel(const vec3& world) const { return inverse(axes) * (world - origin); }
};

sampling_grid make_grid(const tensor_field::tensor_image& image);

/// The formula at every voxel centre; all voxels are inside.
tensor_field::tensor_image sampled(const tensor_formula& f, const sampling_grid& grid);

/// Every tensor's logarithm with the symmetric part of a matrix of independent Gaussian noise of deviation `sigma`:
/// that much on the diagonal, sigma / sqrt(2) beside it.
void add_log_noise(tensor_field::tensor_image& image, double sigma, unsigned seed);

}  // namespace voxherd::reference
