#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/perfusion/models.hpp"

namespace voxherd::perfusion {

enum class solver_kind {
  simplex,  ///< Nelder & Mead, as in Lagarias et al., SIAM J Optim 9:112, 1998
  lm,       ///< Levenberg & Marquardt, within bounds, analytic derivatives
  varpro,   ///< flows >= 0 eliminated (Golub & Pereyra 1973; Kaufman 1975), the others by Levenberg & Marquardt
  linear,   ///< Murase, Magn Reson Med 51:858, 2004: one linear least squares, delays as given
};

enum class convolution_kind {
  recursion,  ///< C_i from C_{i-1}
  direct,     ///< the sum over all earlier frames
  block_fft,  ///< Wang & Cao's q x p table; on a GPU one block per voxel
};

/// Discretisation of the continuous model: two models that differ by 1 to 15 % of the peak.
enum class discretisation_kind {
  exact,  ///< the integral for inputs linear between frames, at the shifted time
  paper,  ///< shifted inputs read at the frames, then C_i = T sum_j f_j exp(-rate (i - j) T)
};

enum class precision_kind { float64, float32 };

struct parameter_rule {
  double start = 0;  ///< 1/s, s or 1; for a fixed parameter, its value
  double least = 0, most = 0;
  bool fixed = false;

  static constexpr auto members() {
    using T = parameter_rule;
    return std::tuple(&T::start, &T::least, &T::most, &T::fixed);
  }
};

/// The bounds and starts of a model's table, in the units of kernels.
inline std::vector<parameter_rule> table_rules(const model_info& model) {
  std::vector<parameter_rule> rules;
  for (const parameter& p : model.parameters) {
    const double factor = p.unit().factor;
    rules.push_back({p.start / factor, p.low / factor, p.high / factor});
  }
  return rules;
}

inline constexpr int max_starts = 8;

struct fit_settings {
  explicit fit_settings(const model_info& m = info_of<dual_model>) : model(&m), rules(table_rules(m)) {}

  const model_info* model;
  solver_kind solver = solver_kind::lm;
  convolution_kind convolution = convolution_kind::recursion;
  discretisation_kind discretisation = discretisation_kind::exact;
  precision_kind precision = precision_kind::float64;

  std::vector<parameter_rule> rules;  ///< of each parameter of the model
  /// Starts from the model's list or dictionary, best first; the best result is kept; 0: only the rules' start.
  int starts = 1;

  int max_iterations = 600;          ///< the paper's for the simplex
  double absolute_tolerance = 1e-8;  ///< simplex: largest minus smallest cost (squared unit of concentration)
  double relative_tolerance = 0;     ///< simplex: the same over the smallest cost; LM: predicted decrease of the cost
  bool bounded = true;               ///< the paper's simplex has no bounds
};

/// Why a voxel's fit ended. Numbers are part of the file format.
enum class fit_exit : std::uint8_t {
  converged = 0,
  max_iterations = 1,
  no_descent = 2,  ///< LM: no step reduces the cost; 3 was used by version 0.1 for fits that now have a status
};

}  // namespace voxherd::perfusion
