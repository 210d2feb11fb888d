#pragma once

#include <array>
#include <cstdint>

/// The dual-input single-compartment model of the liver (Materne et al., Clin Sci 99:517, 2000; Wang & Cao, Phys Med
/// Biol 57:5601, 2012):  dC/dt = ka Ca(t - tau_a) + kp Cp(t - tau_p) - kl C,  C = 0 before the first frame.
namespace voxherd::perfusion {

/// The order of parameters everywhere: in arrays, tables and files.
enum parameter : int { kl, ka, kp, tau_a, tau_p };
inline constexpr int parameter_count = 5;

/// 1/s to ml/100 g/min for tissue of 1 g/ml.
inline constexpr double per_second = 6000;

enum class solver_kind {
  simplex,  ///< Nelder & Mead, as in Lagarias et al., SIAM J Optim 9:112, 1998
  lm,       ///< Levenberg & Marquardt, within bounds, analytic derivatives
  varpro,   ///< ka, kp >= 0 eliminated (Golub & Pereyra 1973; Kaufman 1975), the other three by Levenberg & Marquardt
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
  paper,  ///< shifted inputs read at the frames, then C_i = T sum_j f_j exp(-kl (i - j) T)
};

enum class precision_kind { float64, float32 };

struct parameter_rule {
  double start = 0;  ///< 1/s or s; for a fixed parameter, its value
  double least = 0, most = 0;
  bool fixed = false;
};

struct fit_settings {
  solver_kind solver = solver_kind::lm;
  convolution_kind convolution = convolution_kind::recursion;
  discretisation_kind discretisation = discretisation_kind::exact;
  precision_kind precision = precision_kind::float64;

  /// Bounds: ka, kp 0 to 1000, kl 1 to 4000 ml/100 g/min, delays 0 to 15 and 0 to 10 s. Starts: the paper's.
  std::array<parameter_rule, parameter_count> rules{{{200 / per_second, 1 / per_second, 4000 / per_second},
                                                     {10 / per_second, 0, 1000 / per_second},
                                                     {80 / per_second, 0, 1000 / per_second},
                                                     {2, 0, 15},
                                                     {3, 0, 10}}};
  /// Starts from the dictionary, best first; the best result is kept; 0: only the rules' start.
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
