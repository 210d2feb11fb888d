#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/perfusion/settings.hpp"

namespace voxherd {

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

/// A voxel's parameters in the order of perfusion::parameter, in 1/s and s; kl > 0, delays >= 0.
using liver_parameters = std::array<double, perfusion::parameter_count>;

/// Concentrations of the dual-input single-compartment model at the frames: exact integrals for inputs that are linear
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
