#pragma once

#include <array>
#include <vector>

#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/gradients.hpp"

namespace voxherd::view {

/// Posterior means of one voxel. Diffusivities in mm2/s, directions in the frame of the bvecs.
struct ballstick_means {
  struct fibre {
    double fraction = 0;
    std::array<double, 3> along{};
  };
  ballstick::diffusion_model model = ballstick::diffusion_model::gamma;
  double S0 = 0, d = 0, d_std = 0, ratio = 0, f0 = 0;
  std::vector<fibre> fibres;
};

/// One measurement: direction times the square root of b, and b, in ms/um2.
struct weighted_gradient {
  std::array<double, 3> q{};
  double b = 0;
};
/// `deviation`: nine numbers of the gradient non-linearity in FSL's order, or none.
weighted_gradient weight(const gradient_table& table, std::size_t volume, const std::vector<float>& deviation);

/// The model's signal, with the attenuations of the fit.
double predict_signal(const ballstick_means& m, const weighted_gradient& g);

}  // namespace voxherd::view
