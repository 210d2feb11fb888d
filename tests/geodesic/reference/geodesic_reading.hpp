#pragma once

#include <vector>

#include "kernels/geodesic/settings.hpp"
#include "tests/geodesic/reference/geodesic_fields.hpp"

namespace voxherd::reference {

/// The values that a ray needs of a field at a position, along world axes.
struct field_values {
  mat3 D;
  mat3_gradient dD;
  mat3_gradient dG;  ///< of the inverse of D; read separately if the reader stores it
};

/// -G dD G
mat3_gradient inverse_gradient(const mat3& D, const mat3_gradient& dD);

class field_reader {
 public:
  virtual ~field_reader() = default;
  virtual field_values at(const vec3& world) const = 0;
};

class formula_reader final : public field_reader {
 public:
  explicit formula_reader(const tensor_formula& f) : formula_(f) {}
  field_values at(const vec3& world) const override;

 private:
  const tensor_formula& formula_;
};

/// Source of the derivatives of the inverse.
enum class inverse_derivatives {
  of_reading,   ///< the reading of D, differentiated
  differences,  ///< as van Aart 2011: central differences of the inverse at the voxel centres (one-sided ones of second
                ///< order at the first and last), read like D
};

/// Trilinear or cubic B-spline interpolation of samples. Tensors stay along world axes; the grid only determines the
/// position.
class sampled_reader final : public field_reader {
 public:
  sampled_reader(const tensor_field::tensor_image& image, geodesic::interpolation how, inverse_derivatives inverse);
  /// Uses the contents of a prepared field in host memory, floats unchanged, without a preparation in between.
  explicit sampled_reader(const tensor_field::field& stored);
  field_values at(const vec3& world) const override;

 private:
  struct weights {
    std::vector<long> voxel;
    std::vector<double> value, slope;
  };
  weights weights_along(std::size_t axis, double place) const;
  void differentiate_inverse();
  void prefilter(std::vector<mat3>& samples) const;

  sampling_grid grid_;
  geodesic::interpolation how_;
  std::vector<mat3> D_, dG_[3];  ///< samples or coefficients; dG_ by world axis, empty if not needed
};

/// c with (c[i-1] + 4 c[i] + c[i+1]) / 6 = f[i], mirrored at the first and the last sample: a cubic B-spline through f.
std::vector<double> tridiagonal_coefficients(std::vector<double> f);

}  // namespace voxherd::reference
