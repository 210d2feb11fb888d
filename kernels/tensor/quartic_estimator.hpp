#pragma once

#include <cmath>
#include <vector>

#include "kernels/device/voxelwise.hpp"
#include "kernels/portable/cholesky.hpp"
#include "kernels/tensor/quartic_fit.hpp"
#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

struct quartic_design {
  tensor_design tensor;
  const double* to_odf;  ///< 15 a measurement: what a unit of ln(ADC ratio) there adds to the ODF, as a quartic; all 0
                         ///< where a measurement is not used
};

/// Computes the least-squares quartic through samples in the directions of half_sphere.
struct quartic_projector {
  double factor[packed_size(quartic_size)];  ///< factor of the normal matrix, from cholesky_factor

  VOXHERD_FUNCTION void operator()(double (&right)[quartic_size]) const { cholesky_solve<quartic_size>(factor, right); }
};

struct quartic_fit {
  double tensor[6] = {};
  double quartic[quartic_size] = {};
  double mixed = 0;
  voxel_status status = voxel_status::singular;
};

/// Host memory of a quartic_design.
struct quartic_design_table {
  /// Throws std::invalid_argument.
  quartic_design_table(const gradient_table& gradients, const quartic_settings& settings);

  tensor_design_table tensor;
  std::vector<double> to_odf;  ///< see quartic_design
  quartic_projector projector{};

  quartic_design view() const { return {tensor.view(), to_odf.data()}; }
};

/// Implements quartic_fit.hpp for one voxel. In double, because it runs once per voxel and CPU and GPU must find the
/// same mixture.
class quartic_fitter {
 public:
  VOXHERD_FUNCTION quartic_fitter(quartic_design design, const quartic_projector& project,
                                  const quartic_settings& settings)
      : design_(design),
        project_(project),
        tensor_(design.tensor, settings.tensor),
        min_eigenvalue_(settings.min_eigenvalue),
        convexity_(settings.convexity) {}

  VOXHERD_FUNCTION quartic_fit operator()(signal_row row) const {
    const tensor_fit fitted = tensor_(row);
    quartic_fit result;
    result.status = fitted.status;
    if (fitted.status != voxel_status::fitted) return result;
    if (!(fitted.eigen.value[0] > 0)) {
      result.status = voxel_status::diverged;
      return result;
    }
    for (int i = 0; i < 6; ++i) result.tensor[i] = fitted.tensor[i];
    const axes round = unit_axes(fitted.eigen);
    double odf[quartic_size], t[quartic_size];
    odf_beyond_tensor(row, fitted.S0, round, odf);
    norm_in_round_axes(round, odf, t);
    result.mixed = tensor_field::finsler4_make_convex(t, convexity_);
    tensor_field::quartic_transformed(t, round.from_world, result.quartic);
    return result;
  }

 private:
  /// Coordinates in which the tensor, with its eigenvalues raised, is the identity.
  struct axes {
    double to_world[9], from_world[9];  ///< row-major
    double root_of_determinant;
  };

  static constexpr double min_ratio = 0.2;        ///< ODF divided by the tensor's; smaller values are noise
  static constexpr double largest_log_ADC = 2.1;  ///< ADC divided by the tensor's: a factor of 8
  static constexpr double floor_of_S0 = 1e-6;
  static constexpr double pi = 3.14159265358979323846;

  VOXHERD_FUNCTION axes unit_axes(const eigen_system3<double>& e) const {
    axes a;
    a.root_of_determinant = 1;
    for (int k = 0; k < 3; ++k) {
      const double floor = min_eigenvalue_ * e.value[0];
      const double root = std::sqrt(e.value[k] > floor ? e.value[k] : floor);
      a.root_of_determinant *= root;
      for (int i = 0; i < 3; ++i) {
        a.to_world[3 * i + k] = root * e.vector[k][i];
        a.from_world[3 * k + i] = e.vector[k][i] / root;
      }
    }
    return a;
  }

  /// psi - psi_D on unit vectors, as a quartic.
  VOXHERD_FUNCTION void odf_beyond_tensor(signal_row row, double S0, const axes& round,
                                          double (&odf)[quartic_size]) const {
    for (double& c : odf) c = 0;
    for (std::size_t k = 0; k < design_.tensor.measurements; ++k) {
      const double* column = design_.to_odf + quartic_size * k;
      const double* q = design_.tensor.q + 3 * k;
      double expected = 0;  // b times the tensor's ADC
      for (int j = 0; j < 3; ++j) {
        const double along = round.to_world[j] * q[0] + round.to_world[3 + j] * q[1] + round.to_world[6 + j] * q[2];
        expected += along * along;
      }
      expected *= design_.tensor.largest_b_s_per_mm2;
      if (!(expected > 0)) continue;  // without diffusion weighting
      const double attenuation = row[k] / S0;
      const double measured = -std::log(attenuation > floor_of_S0 ? attenuation : floor_of_S0);
      const double ratio = measured / expected;
      double log_ratio = ratio > 0 ? std::log(ratio) : -largest_log_ADC;
      log_ratio = lane::max(-largest_log_ADC, lane::min(log_ratio, largest_log_ADC));
      for (int n = 0; n < quartic_size; ++n) odf[n] += column[n] * log_ratio;
    }
  }

  VOXHERD_FUNCTION void norm_in_round_axes(const axes& round, const double (&odf)[quartic_size],
                                           double (&t)[quartic_size]) const {
    for (double& c : t) c = 0;
    tensor_field::half_sphere directions;
    for (int i = 0; i < tensor_field::half_sphere::count; ++i) {
      double w[3], u[3], monomials[quartic_size];
      directions.next(w);
      for (int a = 0; a < 3; ++a)
        u[a] = round.to_world[3 * a] * w[0] + round.to_world[3 * a + 1] * w[1] + round.to_world[3 * a + 2] * w[2];
      // |u| = (u^T D^-1 u)^(-1/2) of the unit vector along u; psi_D is its cube over 4 pi det(D)^(1/2).
      const double squared = tensor_field::dot(u, u), size = std::sqrt(squared);
      const double tensors = squared * size / (4 * pi * round.root_of_determinant);
      double ratio = 1 + tensor_field::quartic_value(odf, u) / (squared * squared) / tensors;
      ratio = ratio > min_ratio ? ratio : min_ratio;
      const double target = 1 / (ratio * std::cbrt(ratio));
      tensor_field::quartic_monomials(w, monomials);
      for (int n = 0; n < quartic_size; ++n) t[n] += target * monomials[n];
    }
    project_(t);
    // The mean of T w w w w over the sphere is T_iijj / 5.
    const double mean = (t[0] + t[10] + t[14] + 2 * (t[3] + t[5] + t[12])) / 5;
    for (double& c : t) c /= mean;
  }

  quartic_design design_;
  quartic_projector project_;
  tensor_fitter tensor_;
  double min_eigenvalue_, convexity_;
};

/// Stores item `i` of a batch's outputs.
VOXHERD_FUNCTION inline void store(const quartic_fit& fit, std::size_t i, const output_arrays<quartic_outputs>& out) {
  out.put<"tensor">(i, fit.tensor);
  out.put<"quartic">(i, fit.quartic);
  out.put<"mixed">(i, fit.mixed);
  out.put<"status">(i, fit.status);
}

/// Fits fourth-order norms, one voxel per lane. Its settings' gradient_deviation must be false.
class quartic_estimator {
 public:
  using outputs = quartic_outputs;

  /// Throws std::invalid_argument where the gradient table does not determine a norm or a setting is out of its range.
  quartic_estimator(const gradient_table& gradients, const quartic_settings& settings)
      : table_(gradients, settings), settings_(settings) {}

  std::size_t row_floats() const { return table_.tensor.q.size() / 3; }

  struct one_voxel {
    const quartic_fitter* fit;  ///< too large for a kernel's arguments
    VOXHERD_FUNCTION void operator()(signal_row row, std::size_t item, const output_arrays<outputs>& out) const {
      store((*fit)(row), item, out);
    }
  };

  template <class Send>
  auto callable(Send& send) const {
    quartic_design design = table_.view();
    design.tensor.q = send(table_.tensor.q);
    design.to_odf = send(table_.to_odf);
    return one_voxel{send(std::vector{quartic_fitter(design, table_.projector, settings_)})};
  }

 private:
  quartic_design_table table_;
  quartic_settings settings_;
};

using quartic_solver = voxelwise_solver<quartic_estimator>;

}  // namespace voxherd
