#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device.hpp"
#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// What a fit says of a voxel as floats. Flows in ml/100 g/min for 1 g/ml, times in s.
enum map : int {
  map_kl,
  map_ka,
  map_kp,
  map_tau_a,
  map_tau_p,  ///< in the order of `parameter`
  sd_kl,
  sd_ka,
  sd_kp,
  sd_tau_a,
  sd_tau_p,  ///< standard deviations from the Jacobian; 0: fixed or at a bound
  arterial_fraction,
  total_perfusion,
  distribution_volume,  ///< ka / (ka + kp), ka + kp, (ka + kp) / kl
  mean_transit_time,    ///< 1 / kl, s
  sum_of_squares,
  r_squared,        ///< squared unit of concentration; 1
  t1_before,        ///< s; 0 where no T1 is used
  baseline_signal,  ///< S0; 0 for concentrations
  map_count
};

/// Where a batch's results go: arrays of `count`.
struct outputs {
  std::array<float*, map_count> maps;
  std::uint32_t* iterations;
  std::uint8_t* exit_code;  ///< fit_exit
  std::uint8_t* at_bound;   ///< bit i: parameter i ended at one of its bounds
  std::uint8_t* status;     ///< voxel_status; all else is zero where it is not `fitted`
};

/// Fits batches of voxels on one device. Owns its scratch memory; used by one thread.
class fitter {
 public:
  virtual ~fitter() = default;

  /// `rows`: count x (frames + conversion::extras()) floats. A GPU too small for the batch gets it in halves.
  /// Throws device_error.
  virtual void fit(std::size_t count, const float* rows, const outputs& out) = 0;

  /// What the device's own clock says of the last fit's kernels, without copies; 0 on a CPU.
  virtual double device_seconds() const { return 0; }
};

/// What is good for a solver where nothing else is asked: the paper's for the simplex (its start, no bounds, 1e-8 or
/// 600 iterations); no delays and no bounds for the linear fit; bounds, the dictionary's best start and a relative
/// tolerance for the others.
fit_settings standard_settings(solver_kind solver);

/// After use_device(d). Throws std::invalid_argument for frames or settings that cannot be fitted (the message says
/// which), device_error for a GPU without CUDA.
std::unique_ptr<fitter> make_fitter(const device& d, const time_course& frames, const conversion& convert,
                                    const fit_settings& settings);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(std::size_t frames, const conversion& convert, const fit_settings& settings);

}  // namespace voxherd::perfusion
