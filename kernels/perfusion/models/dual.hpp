#pragma once

#include "kernels/perfusion/tissue_model.hpp"

namespace voxherd::perfusion {

/// The dual-input single-compartment model of the liver (Materne et al., Clin Sci 99:517, 2000; Wang & Cao, Phys Med
/// Biol 57:5601, 2012):  dC/dt = ka Ca(t - tau_a) + kp Cp(t - tau_p) - kl C,  C = 0 before the first frame.
///
/// Starts are the paper's.
struct dual_model : washout<2> {
  static constexpr model_texts texts{"dual",
                                     "single compartment",
                                     "single-compartment model",
                                     "Materne",
                                     "2000",
                                     "Materne R et al. Non-invasive quantification of liver perfusion with dynamic "
                                     "computed tomography and a dual-input "
                                     "one-compartmental model. Clin Sci 99:517-525, 2000."};

  static constexpr parameter parameters[] = {
      {"kl", quantity::exchange_rate, "rate at which blood leaves the voxel's compartment", 1, 4000, 200,
       parameter_role::shape, 0, "outflow"},
      {"ka", quantity::flow, "arterial perfusion", 0, 1000, 10, parameter_role::flow, 0, "arterial"},
      {"kp", quantity::flow, "portal perfusion", 0, 1000, 80, parameter_role::flow, 1, "portal"},
      {"tau_a", quantity::delay, "delay of the arterial input", 0, 15, 2, parameter_role::delay, 0},
      {"tau_p", quantity::delay, "delay of the portal input", 0, 10, 3, parameter_role::delay, 1},
  };

  static constexpr derived_value derived[] = {
      {"arterial_fraction", quantity::flow_fraction, "ka / (ka + kp)"},
      {"total_perfusion", quantity::flow, "ka + kp", "total", false},
      {"distribution_volume", quantity::volume_fraction, "(ka + kp) / kl", "distribution"},
      {"mean_transit_time", quantity::transit_time, "1 / kl"},
  };
  VOXHERD_FUNCTION static void derive(const double (&p)[count], double (&value)[std::size(derived)]) {
    const double kl = p[rate], ka = p[flow(0)], total = ka + p[flow(1)];
    value[0] = total != 0 ? ka / total : 0;
    value[1] = total;
    value[2] = kl != 0 ? total / kl : 0;
    value[3] = kl != 0 ? per_second / kl : 0;
  }
};
static_assert(has_washout_order<dual_model>());

/// Its parameters by name, for code that is about this model only: tests and benchmarks.
enum dual_parameter : int { kl, ka, kp, tau_a, tau_p };
inline constexpr int dual_parameters = dual_model::count;

}  // namespace voxherd::perfusion
