#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace voxherd
