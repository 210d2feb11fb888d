#pragma once

#include <array>
#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

/// The dual-input model computed from its integral, in double: every frame sums over all earlier times, nothing is
/// carried from frame to frame. O(frames^2) per curve.
namespace voxherd::reference {

/// In the order of perfusion::dual_parameter; 1/s and s.
using perfusion_parameters = std::array<double, perfusion::dual_parameters>;

/// ml/100 g/min and s, as in tables.
perfusion_parameters kernel_units(const perfusion_parameters& in_units_of_maps);
perfusion_parameters map_units(const perfusion_parameters& in_units_of_kernels);

/// An input at any time, s from the first frame: linear between frames, rising from 0 one frame before the first,
/// constant after the last. `values`: one per frame.
double input_at(const perfusion::time_course& frames, const std::vector<double>& values, double time_s);

/// int_{-inf}^{t} c(u) e^{-k (t - u)} du of that input in closed form, segment by segment. k: 1/s, any sign.
double convolved_input(const perfusion::time_course& frames, const std::vector<double>& values, double k,
                       double time_s);

/// `exact`: ka G_a(t - tau_a) + kp G_p(t - tau_p) at every frame; any frame times.
std::vector<double> exact_curve(const perfusion::time_course& frames, const perfusion_parameters& p);

/// `paper`: C_i = T sum_{j <= i} f_j e^{-kl (i - j) T}, f_j = ka Ca(t_j - tau_a) + kp Cp(t_j - tau_p). Evenly spaced
/// frames.
std::vector<double> paper_curve(const perfusion::time_course& frames, const perfusion_parameters& p);

std::vector<double> perfusion_curve(const perfusion::time_course& frames, perfusion::discretisation_kind how,
                                    const perfusion_parameters& p);

/// Sum over the counted frames of (y_i - C_i)^2, in the frames' order.
double perfusion_cost(const perfusion::time_course& frames, perfusion::discretisation_kind how,
                      const perfusion_parameters& p, const std::vector<double>& y);

/// dC_i / dp at every frame, by central differences; [parameter][frame]. With respect to a delay at which C has a kink
/// (`paper` at complete frames) there is no derivative: the result is the mean of both sides.
std::array<std::vector<double>, perfusion::dual_parameters> perfusion_jacobian(const perfusion::time_course& frames,
                                                                               perfusion::discretisation_kind how,
                                                                               const perfusion_parameters& p);

}  // namespace voxherd::reference
