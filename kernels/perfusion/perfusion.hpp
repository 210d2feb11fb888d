#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device.hpp"
#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/portable/output_arrays.hpp"

namespace voxherd::perfusion {

inline constexpr auto flow_unit = "ml/100g/min";  ///< for 1 g/ml

/// Outputs of a fit; all but `status` are zero where that is not `fitted`.
struct fit_outputs {
  static constexpr output table[] = {
      // in the order of `parameter`
      {"kl", element_type::float32, 1, flow_unit, "rate at which blood leaves the voxel's compartment"},
      {"ka", element_type::float32, 1, flow_unit, "arterial perfusion"},
      {"kp", element_type::float32, 1, flow_unit, "portal perfusion"},
      {"tau_a", element_type::float32, 1, "s", "delay of the arterial input"},
      {"tau_p", element_type::float32, 1, "s", "delay of the portal input"},
      {"sd_kl", element_type::float32, 1, flow_unit,
       "standard deviation of kl from the Jacobian; 0: fixed or at a bound"},
      {"sd_ka", element_type::float32, 1, flow_unit, "standard deviation of ka"},
      {"sd_kp", element_type::float32, 1, flow_unit, "standard deviation of kp"},
      {"sd_tau_a", element_type::float32, 1, "s", "standard deviation of tau_a"},
      {"sd_tau_p", element_type::float32, 1, "s", "standard deviation of tau_p"},
      {"arterial_fraction", element_type::float32, 1, "1", "ka / (ka + kp)"},
      {"total_perfusion", element_type::float32, 1, flow_unit, "ka + kp"},
      {"distribution_volume", element_type::float32, 1, "1", "(ka + kp) / kl"},
      {"mean_transit_time", element_type::float32, 1, "s", "1 / kl"},
      // its unit is the squared one of the concentration
      {"sum_of_squares", element_type::float32, 1, "", "sum of squared residuals over the frames that are fitted"},
      {"r_squared", element_type::float32, 1, "1", "part of the curve's variance that the model explains"},
      {"t1_before", element_type::float32, 1, "s", "T1 before the agent"},
      {"baseline_signal", element_type::float32, 1, "input", "mean signal of the baseline frames, S0"},
      {"iterations", element_type::uint32, 1, "1", "number of iterations of the solver, from the best start"},
      {"exit_code", element_type::uint8, 1, "code", "0 converged, 1 largest number of iterations, 2 no descent"},
      {"at_bound", element_type::uint8, 1, "bits",
       "bit 0 kl, 1 ka, 2 kp, 3 tau_a, 4 tau_p: ended at one of its bounds"},
      {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)"},
  };
};
using outputs = output_arrays<fit_outputs>;

/// The maps among the outputs: those that a user may choose from.
enum map : int {
  map_kl = outputs::place<"kl">(),
  map_ka,
  map_kp,
  map_tau_a,
  map_tau_p,
  sd_kl = outputs::place<"sd_kl">(),
  sd_ka,
  sd_kp,
  sd_tau_a,
  sd_tau_p,
  arterial_fraction = outputs::place<"arterial_fraction">(),
  total_perfusion = outputs::place<"total_perfusion">(),
  distribution_volume = outputs::place<"distribution_volume">(),
  mean_transit_time = outputs::place<"mean_transit_time">(),
  sum_of_squares = outputs::place<"sum_of_squares">(),
  r_squared = outputs::place<"r_squared">(),
  t1_before = outputs::place<"t1_before">(),
  baseline_signal = outputs::place<"baseline_signal">(),
  map_count
};
static_assert(map_tau_p == outputs::place<"tau_p">() && sd_tau_p == outputs::place<"sd_tau_p">() &&
              map_count == outputs::place<"iterations">());

/// Fits batches of voxels on one device. Owns its scratch memory; used by one thread.
class fitter {
 public:
  virtual ~fitter() = default;

  /// `rows`: count x (frames + conversion::extras()) floats. Throws device_error; device_out_of_memory if fewer
  /// voxels may fit.
  virtual void fit(std::size_t count, const float* rows, const outputs& out) = 0;

  /// Frees the device memory that is kept between batches.
  virtual void release_memory() {}

  /// Time of the last fit's kernels by the device's clock, without copies; 0 on a CPU.
  virtual double device_seconds() const { return 0; }
};

/// Default settings of a solver: the paper's for the simplex (its start, no bounds, 1e-8 or
/// 600 iterations); no delays and no bounds for the linear fit; bounds, the dictionary's best start and a relative
/// tolerance for the others.
fit_settings standard_settings(solver_kind solver);

/// Throws std::invalid_argument for frames or settings that cannot be fitted; the message says which.
void check_fit(const time_course& frames, const fit_settings& settings);

/// After use_device(d). Throws as check_fit(), device_error for a GPU without CUDA.
std::unique_ptr<fitter> make_fitter(const device& d, const time_course& frames, const conversion& convert,
                                    const fit_settings& settings);

// Its backends; arguments have been checked.
std::unique_ptr<fitter> make_fitter_cpu(const device& d, const time_course& frames, const conversion& convert,
                                        const fit_settings& settings);
std::unique_ptr<fitter> make_fitter_cuda(const time_course& frames, const conversion& convert,
                                         const fit_settings& settings);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(std::size_t frames, const conversion& convert, const fit_settings& settings);

}  // namespace voxherd::perfusion
