#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/phantom/input_curves.hpp"

namespace voxherd {

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
