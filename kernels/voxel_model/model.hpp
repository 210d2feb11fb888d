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
///
/// A model whose signal needs numbers that depend on b and on nothing else, as the moments of a series, also has
///   table_numbers, tabulate(Real b, Real (&table)[table_numbers]) const
///                   computed once for each measurement; attenuation() gets them after the gradient
///
/// A directional model, whose signal depends on directions, also has
///   axes            a constant array of voxel_model::axis: outputs of a frame that is fitted to each voxel (frame.hpp)
///   turns           3; 2 for a signal that is the same for all turns about the frame's last axis
///   state<Number, Slopes>, prepare(team, p, state&) const
///                   what depends on the parameters alone, computed once per point by all lanes of a team; with Slopes
///                   for derivatives by the parameters
///   first_prepared  prepare() depends on this parameter and those after it, not on those before; only on those before
///                   prepared_end, where a model has that
///   attenuation(gradient<Real>, const Number (&p)[n], const state&, Real (&by)[n], Real (&by_component)[3]) const
///                   the gradient is along the frame's axes; also derivatives by its components
///   derived, derive(const Number (&p)[n], Number (&value)[count])
///                   a constant array of voxel_model::derived_value: other outputs, from the parameters
///   relabelled, relabel(double (&p)[n], Frame& f)
///                   optional: the fit lets this parameter leave its bounds by half of their distance: there the same
///                   signal has other axes, which relabel() finds
///   prior_energy(const float (&p)[n]) const
///                   minus the logarithm to base 2 of the prior's density, besides `prior` of the parameters
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

/// An output along an axis of a directional model's frame.
struct axis {
  const char *name, *meaning;
  int number;  ///< of the frame's axis: 0, 1 or 2
};

/// An output that is computed from the parameters.
struct derived_value {
  const char *name, *unit, *meaning;
  bool has_samples = true;  ///< and a standard deviation
};

/// One measurement per lane.
template <class Real>
struct gradient {
  Real x, y, z;  ///< unit vector, or zero
  Real b_s_per_mm2;
};

template <class Model>
inline constexpr int parameter_count = static_cast<int>(std::size(Model::parameters));

template <class Model>
concept tabulated = requires {
  Model::table_numbers;
};

/// The numbers of one measurement per lane.
template <class Model, class Real>
struct measurement_table {};
template <tabulated Model, class Real>
struct measurement_table<Model, Real> {
  Real number[Model::table_numbers];
};

template <class Model>
inline constexpr int table_numbers = 0;
template <tabulated Model>
inline constexpr int table_numbers<Model> = Model::table_numbers;

template <class Model>
concept directional = requires {
  Model::axes;
};

/// Rotations of a model's frame, which follow S0 in all arrays.
template <class Model>
inline constexpr int turn_count = 0;
template <directional Model>
inline constexpr int turn_count<Model> = Model::turns;

/// prepare() depends on the parameters before this one.
template <class Model>
inline constexpr int prepared_end = parameter_count<Model>;
template <class Model>
requires requires { Model::prepared_end; }
inline constexpr int prepared_end<Model> = Model::prepared_end;

/// Numbers of a voxel: parameters, S0, rotations.
template <class Model>
inline constexpr int value_count = parameter_count<Model> + 1 + turn_count<Model>;

/// The table of parameters without its texts, which a GPU reads. A model's parameters are in the table's order in all
/// arrays; then S0, then rotations, then, where it is sampled, tau = 1/sigma^2.
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
