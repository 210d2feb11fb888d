#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/perfusion/models/dual.hpp"
#include "kernels/portable/draws.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd {

enum class noise_kind { none, gaussian, rician };

struct noise_settings {
  noise_kind kind = noise_kind::rician;
  double deviation = 0;  ///< standard deviation of the noise of each channel, in the unit of the signal
  std::uint64_t seed = 1;
};

/// Adds noise to a sample. Noise is keyed by (seed, voxel in the image, sample) and does not depend on the number of
/// ranks and threads.
inline float with_noise(double signal, const noise_settings& noise, std::uint64_t voxel, std::uint64_t sample) {
  if (noise.kind == noise_kind::none) return static_cast<float>(signal);
  // Differs from the streams of an estimator with the same seed.
  constexpr std::uint64_t phantom_streams = 0x7068616e746f6d21;
  const draw_pair channels = draw(noise.seed ^ phantom_streams, voxel, sample);
  const double real = signal + noise.deviation * static_cast<double>(channels.normal[0]);
  if (noise.kind == noise_kind::gaussian) return static_cast<float>(real);
  const double imaginary = noise.deviation * static_cast<double>(channels.normal[1]);
  return static_cast<float>(std::sqrt(real * real + imaginary * imaginary));
}

constexpr std::size_t max_phantom_fibres = 3;

/// Composition of a phantom voxel: the ball-and-stick truth.
struct tissue {
  bool inside = false;  ///< in the mask
  std::size_t fibres = 0;
  std::array<double, max_phantom_fibres> fraction{};  ///< decreasing
  std::array<std::array<double, 3>, max_phantom_fibres> direction{};
  double d_mm2_per_s = 0;
  double S0 = 0;
};

/// Samples of consecutive voxels: out[i] is voxel first_voxel + i in measurement k. Zero outside the mask.
///
/// Ball and sticks (Behrens et al., MRM 50:1077, 2003):
/// S = S0 [ sum_j f_j exp(-b d (g.x_j)^2) + (1 - sum_j f_j) exp(-b d) ].
/// Noise is keyed by (seed, voxel, measurement) and does not depend on the number of ranks and threads.
void make_dwi_samples(std::span<const tissue> voxels, std::uint64_t first_voxel, const gradient_table& gradients,
                      std::size_t k, const noise_settings& noise, float* out);

/// with_noise() of consecutive voxels, from first_voxel on, in one sample.
void make_noisy_samples(std::span<const double> signals, std::uint64_t first_voxel, std::uint64_t sample,
                        const noise_settings& noise, float* out);

/// Concentrations in the blood of aorta and portal vein at equidistant times from the first frame on: linear between
/// them, 0 before the first one.
struct input_curves {
  double step_s = 0;
  std::vector<double> arterial, portal;  ///< mM
};

/// Population-averaged arterial curve, mM in whole blood; 0 before the agent arrives (Parker et al., Magn Reson Med
/// 56:993, 2006).
double parker_mM(double s_since_arrival);

/// Impulse response of the portal vein to agent in the aorta, 1/s, area 1 (Banerji et al., J Magn Reson Imaging 35:176,
/// 2012, as in madym).
double portal_response_per_s(double s);

/// `count` values each. The portal curve is the convolution of the arterial one, in steps of 0.02 s.
input_curves make_input_curves(double arrival_s, double step_s, std::size_t count);

/// The model of the simulated liver, whose table has the names and units of the truth.
using liver_model = perfusion::dual_model;
/// A voxel's parameters in the order of the model's table, in 1/s and s; rate > 0, delays >= 0.
using liver_parameters = std::array<double, liver_model::count>;

/// Concentrations of the model of the simulated liver at the frames: exact integrals for inputs that are linear
/// between their own nodes, at any delay (Flouri et al., Magn Reson Med 76:998, 2016). Shares no code with the fit,
/// which knows the inputs only at the frames.
class tissue_curves {
 public:
  /// `frame_s`: increasing, from 0 on, within the inputs' nodes; otherwise throws std::invalid_argument.
  tissue_curves(input_curves inputs, std::vector<double> frame_s);

  std::size_t frames() const { return frame_s_.size(); }
  /// out[i * frames() + k]: voxel i in frame k, mM.
  void make(std::span<const liver_parameters> voxels, double* out) const;

 private:
  input_curves inputs_;
  std::vector<double> frame_s_;
};

}  // namespace voxherd
