#pragma once

#include <array>
#include <functional>
#include <vector>

#include "kernels/portable/gradient_table.hpp"

namespace voxherd::reference {

inline constexpr int max_fibres = 4;

enum class ard_fibres { all_but_first, none, all };

/// Options with bedpostX's names. Diffusivities in mm2/s throughout, b-values in s/mm2.
struct ballstick_settings {
  int model = 1;  ///< 1 mono-exponential, 2 Gamma-distributed diffusivities, 3 Gamma ball with zeppelins
  int fibres = 2;
  bool unattenuated = false;  ///< the f0 compartment
  bool ard_unattenuated = false;
  bool rician = false;
  bool constrained_fit = true;  ///< the fit of model 1 keeps its fractions' sum below 1 by construction
  ard_fibres ard = ard_fibres::all_but_first;
  double ard_weight = 1;
  double ratio_mean = 0.13, ratio_std = 0.03;  ///< prior of model 3's ratio of perpendicular to parallel diffusivity
  int burn_in = 1000, jumps = 1250, sample_every = 25, adapt_every = 40;
};

struct ballstick_parameters {
  double s0 = 0, d = 0, d_std = 0, ratio = 0, f0 = 0, tau = 0;
  std::array<double, max_fibres> f{}, th{}, ph{};
};

/// Signal of one measurement.
/// Model 1: Behrens 2003 MRM 50:1077; model 2: Jbabdi 2012 MRM 68:1846; model 3: sticks replaced by zeppelins.
double ballstick_signal(const ballstick_settings& settings, const ballstick_parameters& p, double b, double gx,
                        double gy, double gz);

/// Signals of all measurements.
std::vector<double> ballstick_signals(const ballstick_settings& settings, const ballstick_parameters& p,
                                      const gradient_table& gradients);

double sum_of_squares(const std::vector<double>& measured, const std::vector<double>& predicted);

/// -log likelihood with the noise's standard deviation integrated out: K/2 log(SSE/2).
double gaussian_energy(const std::vector<double>& measured, const std::vector<double>& predicted);

/// log of the modified Bessel function I0, by its power series below 30 and its asymptotic series above.
double log_bessel_i0(double x);

/// -log Rician likelihood; tau = 1 / sigma^2.
double rician_energy(const std::vector<double>& measured, const std::vector<double>& predicted, double tau);

/// -log prior up to a constant; infinite outside the support.
double prior_energy(const ballstick_settings& settings, const ballstick_parameters& p);

/// prior_energy plus the likelihood's energy.
double posterior_energy(const ballstick_settings& settings, const ballstick_parameters& p,
                        const gradient_table& gradients, const std::vector<double>& measured);

/// Non-positive samples are replaced by the smallest positive one (if any is positive): a Rician density is zero there.
std::vector<double> positive_signals(std::vector<double> measured);

/// The diffusion tensor that starts the fit: two passes of an unweighted log-linear least squares.
struct tensor_start {
  double s0 = 0, fractional_anisotropy = 0, mean_diffusivity = 0, largest_eigenvalue = 0;
  std::array<std::array<double, 3>, 3> eigenvectors{};  ///< [0] belongs to the largest eigenvalue
};
tensor_start start_from_tensor(const gradient_table& gradients, const std::vector<double>& measured);

struct ballstick_fit {
  ballstick_parameters parameters;
  double sum_of_squares = 0;  ///< of the fit, before its results were moved into the sampler's support
};

/// Least squares by Levenberg's method, fibres in descending order of fraction, moved into the sampler's support.
ballstick_fit fit_ballstick(const ballstick_settings& settings, const gradient_table& gradients,
                            const std::vector<double>& measured);

/// The scalars that one jump updates, in order.
enum class scalar { f0, tau, d, d_std, ratio, s0, th, ph, f };
struct update {
  scalar what;
  int fibre = 0;
};
std::vector<update> jump_updates(const ballstick_settings& settings);

double& parameter_value(ballstick_parameters& p, const update& u);

/// Random numbers of one proposal: a standard normal and a uniform in (0, 1).
struct proposal_draw {
  double normal, uniform;
};
/// `jump` counts from 0 through burn-in into sampling; `index` is the position in jump_updates.
using draw_source = std::function<proposal_draw(int jump, int index)>;

struct ballstick_posterior {
  std::vector<ballstick_parameters> samples;  ///< fibres in descending order of mean f
  ballstick_parameters mean;                  ///< th and ph are left out
  std::array<std::array<double, 3>, max_fibres> dyads{};
  std::array<double, max_fibres> dispersion{};
  std::vector<double> acceptance;     ///< per update, over the whole chain
  std::array<int, max_fibres> order;  ///< slot of the chain that became fibre k
};

/// Random-walk Metropolis, one scalar at a time, with proposals adapted every `adapt_every` jumps and angles wrapped.
ballstick_posterior sample_ballstick(const ballstick_settings& settings, const gradient_table& gradients,
                                     const std::vector<double>& measured, const ballstick_parameters& start,
                                     const draw_source& draw);

}  // namespace voxherd::reference
