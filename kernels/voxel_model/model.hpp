#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/portable/function.hpp"

/// A voxelwise model of the diffusion signal is one header, NAME/NAME_model.hpp, with the class voxherd::NAME_model:
///   parameters      a constant array of voxel_model::parameter: its numbers besides S0, the signal without weighting
///   attenuation(gradient<Real>, const Number (&p)[n], Real (&by)[n]) const
///                   the signal divided by S0, and its derivatives by the parameters; a Real has one value per lane
/// Its members are constants of a run: diffusivities, tables by shell. It is copied to the device as it is. Fit, noise,
/// chain, outputs, launchers for CPU and CUDA follow from these.
namespace voxherd::voxel_model {

/// Equally spaced values at which a fit looks for its start.
struct start_values {
  double first, last;
  int count;
};

/// What is known of a parameter before the data are seen. Without one: uniform between the bounds.
struct normal_prior {
  double mean = 0, sd = 0;
};

struct parameter {
  const char* name;
  const char* unit;
  const char* meaning;
  double low, high;  ///< bounds
  start_values starts;
  double first_step;  ///< standard deviation of the chain's first proposals
  normal_prior prior = {};
};

/// One measurement per lane.
template <class Real>
struct gradient {
  Real x, y, z;  ///< unit vector, or zero
  Real b_s_per_mm2;
};

template <class Model>
inline constexpr int parameter_count = static_cast<int>(std::size(Model::parameters));

/// The table of parameters without its texts, which a GPU reads. A model's parameters are in the table's order in all
/// arrays; then S0, then, where it is sampled, tau = 1/sigma^2.
template <int Count>
struct parameter_numbers {
  double low[Count], high[Count], first_step[Count];
  start_values starts[Count];
  normal_prior prior[Count];

  template <class Parameters>
  explicit parameter_numbers(const Parameters& table) {
    for (int i = 0; i < Count; ++i) {
      low[i] = table[i].low, high[i] = table[i].high, first_step[i] = table[i].first_step;
      starts[i] = table[i].starts, prior[i] = table[i].prior;
    }
  }
};

}  // namespace voxherd::voxel_model
