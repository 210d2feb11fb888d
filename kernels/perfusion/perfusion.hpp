#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/device.hpp"
#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// Fits batches of voxels on one device. Owns its scratch memory; used by one thread.
class fitter {
 public:
  virtual ~fitter() = default;

  /// `rows`: count x (frames + conversion::extras()) floats. `out`: an array for each of the model's outputs, in their
  /// order, null for those that are not wanted. Throws device_error; device_out_of_memory if fewer voxels may fit.
  virtual void fit(std::size_t count, const float* rows, std::span<void* const> out) = 0;

  /// Frees the device memory that is kept between batches.
  virtual void release_memory() {}

  /// Time of the last fit's kernels by the device's clock, without copies; 0 on a CPU.
  virtual double device_seconds() const { return 0; }
};

/// Default settings of a solver: the paper's for the simplex (the table's start, no bounds, 1e-8 or 600 iterations); no
/// delays and no bounds for the linear fit; bounds, the best start of several and a relative tolerance for the others.
fit_settings standard_settings(solver_kind solver, const model_info& model = info_of<dual_model>);

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
