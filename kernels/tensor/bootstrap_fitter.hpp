#pragma once

#include <cstdint>

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/draws.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/place_tensor.hpp"
#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

/// Signs are drawn 128 at once.
inline constexpr std::size_t signs_per_draw = 128;

/// The signs of measurements 128 n to 128 n + 127, one bit each: bit k % 64 of word k % 128 / 64; set if the residual
/// is negated. Counted by (voxel's index in the image, replicate, n), keyed by the seed.
struct sign_words {
  std::uint64_t word[2];
};

VOXHERD_FUNCTION inline sign_words draw_signs(std::uint64_t seed, std::uint64_t voxel, std::uint64_t replicate,
                                              std::uint64_t n) {
  const philox4x32_ctr_t drawn = draw_words(seed, voxel, replicate | n << 32);
  return {{drawn.v[0] | std::uint64_t{drawn.v[1]} << 32, drawn.v[2] | std::uint64_t{drawn.v[3]} << 32}};
}

/// 1 if the residual of measurement k is negated.
VOXHERD_FUNCTION inline std::uint64_t is_turned(const sign_words& signs, std::size_t k) {
  return signs.word[k / 64 % 2] >> (k % 64) & 1u;
}

}  // namespace voxherd

/// Operations of a wild bootstrap's refit besides arithmetic, for one voxel or a SIMD register of voxels.
namespace voxherd::bootstrap_lanes {

template <class Number>
struct traits;

template <>
struct traits<double> {
  using mask = bool;
  using signs = sign_words;
  static constexpr std::size_t count = 1;
};

VOXHERD_FUNCTION inline double turned(double residual, const sign_words& signs, std::size_t k) {
  return is_turned(signs, k) != 0 ? -residual : residual;
}
VOXHERD_FUNCTION inline double load(const float* from, double) { return static_cast<double>(*from); }
VOXHERD_FUNCTION inline double load(const double* from, double) { return *from; }
VOXHERD_FUNCTION inline void draw(std::uint64_t seed, const std::uint64_t* voxel, std::uint64_t replicate,
                                  std::uint64_t n, sign_words& signs) {
  signs = draw_signs(seed, *voxel, replicate, n);
}
VOXHERD_FUNCTION inline double at(double x, std::size_t) { return x; }
VOXHERD_FUNCTION inline bool at(bool x, std::size_t) { return x; }

#if !defined(__CUDACC__)
using lane::double_lanes;
using lane::long_lanes;

struct sign_lanes {
  long_lanes word[2];
};

template <>
struct traits<double_lanes> {
  using mask = double_lanes::mask_type;
  using signs = sign_lanes;
  static constexpr std::size_t count = double_lanes::size();
};

inline double_lanes turned(double_lanes residual, const sign_lanes& signs, std::size_t k) {
  const long_lanes sign = (signs.word[k / 64 % 2] >> static_cast<int>(k % 64)) << 63;
  return std::bit_cast<double_lanes>(std::bit_cast<long_lanes>(residual) ^ sign);
}
inline double_lanes load(const float* from, double_lanes) {
  return lane::stdx::static_simd_cast<double_lanes>(
      lane::stdx::rebind_simd_t<float, double_lanes>(from, lane::stdx::element_aligned));
}
inline double_lanes load(const double* from, double_lanes) { return {from, lane::stdx::element_aligned}; }
inline void draw(std::uint64_t seed, const std::uint64_t* voxel, std::uint64_t replicate, std::uint64_t n,
                 sign_lanes& signs) {
  std::int64_t words[2][double_lanes::size()];
  for (std::size_t i = 0; i < double_lanes::size(); ++i) {
    const sign_words drawn = draw_signs(seed, voxel[i], replicate, n);
    for (int w = 0; w < 2; ++w) words[w][i] = static_cast<std::int64_t>(drawn.word[w]);
  }
  for (int w = 0; w < 2; ++w) signs.word[w].copy_from(words[w], lane::stdx::element_aligned);
}
inline double at(const double_lanes& x, std::size_t i) { return x[i]; }
inline bool at(const double_lanes::mask_type& x, std::size_t i) { return x[i]; }
#endif

}  // namespace voxherd::bootstrap_lanes

namespace voxherd {

/// Data of the voxels kept between replicates. A voxel's numbers are `stride` apart; voxels of a SIMD register are
/// interleaved. `residual`: K per voxel, then 9 of the gradient deviation if there is one.
struct bootstrap_place {
  float* residual;    ///< residuals of logarithms; a replicate adds them to the fit with random signs
  double* parameter;  ///< 7 per voxel: the data's fit, in the model's units
  std::size_t stride;
};

/// Fits the data of one voxel; stores what replicates need.
class bootstrap_keeper {
 public:
  VOXHERD_FUNCTION bootstrap_keeper(tensor_design design, tensor_settings settings)
      : design_(design), settings_(settings), fitter_(design, settings) {}

  VOXHERD_FUNCTION void operator()(signal_row row, const bootstrap_place& to, float* tensor,
                                   std::uint8_t* status) const {
    const auto solution = fitter_.solve(row);
    const tensor_fit fit = fitter_.finish(row, solution);
    const bool fitted = fit.status == voxel_status::fitted;
    *status = static_cast<std::uint8_t>(fit.status);
    for (int i = 0; i < 6; ++i) tensor[i] = static_cast<float>(fit.tensor[i]);
    for (std::size_t i = 0; i < 7; ++i) to.parameter[i * to.stride] = fitted ? solution.p[i] : 0;
    const auto bend = fitter_.read_deviation(row);
    const std::size_t count = design_.measurements;
    for (std::size_t k = 0; k < count; ++k)
      to.residual[k * to.stride] = fitted ? static_cast<float>(fitter_.free_residual(row, bend, solution, k)) : 0.0f;
    if (!settings_.gradient_deviation) return;
    for (std::size_t k = count; k < count + 9; ++k) to.residual[k * to.stride] = static_cast<float>(row[k]);
  }

 private:
  tensor_design design_;
  tensor_settings settings_;
  tensor_fitter fitter_;
};

/// Fits a replicate of one voxel, or of a SIMD register of them.
template <class Number>
class bootstrap_refitter {
 public:
  static constexpr int unknowns = tensor_model::unknowns;
  using lanes = bootstrap_lanes::traits<Number>;
  using mask = typename lanes::mask;

  VOXHERD_FUNCTION bootstrap_refitter(tensor_design design, bootstrap_settings settings)
      : design_(design), settings_(settings) {}

  /// `voxel`: linear indices, one per lane. `tensor`: mm2/s. False if the fit has diverged.
  VOXHERD_FUNCTION mask operator()(const bootstrap_place& from, const std::uint64_t* voxel, std::uint64_t replicate,
                                   Number (&tensor)[6]) const {
    const tensor_weighting weighting = settings_.tensor.weighting;
    Number first[unknowns], p[unknowns];
    for (int i = 0; i < unknowns; ++i)
      p[i] = first[i] = bootstrap_lanes::load(from.parameter + static_cast<std::size_t>(i) * from.stride, Number());
    const tensor_model::deviation<Number> bend = read_deviation(from);
    const int passes =
        weighting == tensor_weighting::iterated && settings_.tensor.iterations > 1 ? settings_.tensor.iterations : 1;
    mask good(true);
    for (int pass = 0; pass < passes; ++pass) good = solve(from, bend, voxel, replicate, first, p) && good;
    good = is_sane(bend, p) && good;
    for (int i = 0; i < 6; ++i) tensor[i] = p[i] / design_.largest_b_s_per_mm2;
    return good;
  }

 private:
  VOXHERD_FUNCTION tensor_model::deviation<Number> read_deviation(const bootstrap_place& from) const {
    tensor_model::deviation<Number> bend{};
    if (!settings_.tensor.gradient_deviation) return bend;
    for (int column = 0; column < 3; ++column)
      for (int line = 0; line < 3; ++line) {
        const std::size_t n = design_.measurements + static_cast<std::size_t>(3 * column + line);
        bend.matrix[line][column] =
            bootstrap_lanes::load(from.residual + n * from.stride, Number()) + (line == column ? 1.0 : 0.0);
      }
    return bend;
  }

  /// Calls with(k, x) for all measurements; x of doubles if all voxels have the same gradients.
  template <class With>
  VOXHERD_FUNCTION void each_row(const tensor_model::deviation<Number>& bend, With with) const {
    for (std::size_t k = 0; k < design_.measurements; ++k) {
      if (settings_.tensor.gradient_deviation) {
        Number x[unknowns];
        tensor_model::design_row(design_.q + 3 * k, bend, x);
        with(k, x);
      } else {
        double x[unknowns];
        tensor_model::design_row(design_.q + 3 * k, x);
        with(k, x);
      }
    }
  }

  VOXHERD_FUNCTION Number weight(const Number& resampled, const Number& predicted) const {
    if (settings_.tensor.weighting == tensor_weighting::ordinary) return Number(1);
    const Number e = settings_.tensor.weighting == tensor_weighting::weighted ? resampled : predicted;
    constexpr double most = tensor_model::largest_exponent;
    return lane::exp(2 * lane::max(lane::min(e, Number(most)), Number(-most)));
  }

  VOXHERD_FUNCTION mask solve(const bootstrap_place& from, const tensor_model::deviation<Number>& bend,
                              const std::uint64_t* voxel, std::uint64_t replicate, const Number (&first)[unknowns],
                              Number (&p)[unknowns]) const {
    Number normal[packed_size(unknowns)] = {}, right[unknowns] = {};
    typename lanes::signs signs;
    each_row(bend, [&](std::size_t k, const auto& x) {
      if (k % signs_per_draw == 0) bootstrap_lanes::draw(settings_.seed, voxel, replicate, k / signs_per_draw, signs);
      const Number residual = bootstrap_lanes::load(from.residual + k * from.stride, Number());
      const Number resampled = tensor_model::log_prediction(x, first) + bootstrap_lanes::turned(residual, signs, k);
      const Number w = weight(resampled, tensor_model::log_prediction(x, p));
      VOXHERD_UNROLL
      for (int i = 0; i < unknowns; ++i) {
        const Number wx = w * x[i];
        right[i] += wx * resampled;
        VOXHERD_UNROLL
        for (int j = 0; j <= i; ++j) normal[packed_index(i, j)] += wx * x[j];
      }
    });
    const mask good = cholesky_factor_lanes<unknowns, mask>(normal);
    cholesky_solve<unknowns>(normal, right);
    for (int i = 0; i < unknowns; ++i) p[i] = right[i];
    return good;
  }

  /// Whether every signal that the fit predicts is below ten times the largest of the data; false for NaN.
  VOXHERD_FUNCTION mask is_sane(const tensor_model::deviation<Number>& bend, const Number (&p)[unknowns]) const {
    constexpr double log_of_ten = 2.302585092994046;
    mask sane(true);
    each_row(bend, [&](std::size_t, const auto& x) {
      sane = tensor_model::log_prediction(x, p) < Number(log_of_ten) && sane;
    });
    return sane;
  }

  tensor_design design_;
  bootstrap_settings settings_;
};

}  // namespace voxherd
