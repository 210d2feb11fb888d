#pragma once

#include <cstddef>
#include <memory>

#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd::ballstick {

/// Least-squares starts on the CPU. One object per thread, because it owns scratch memory.
class cpu_start_fitter {
 public:
  virtual ~cpu_start_fitter() = default;

  /// `signals`: K. `deviation`: nine numbers of the gradient deviation (FSL's volume order, column-wise), or null.
  /// `start`: in parameter_layout's order. Returns the sum of squared residuals, squared unit of the signal.
  virtual double fit(const float* signals, const float* deviation, float* start) = 0;
};

std::unique_ptr<cpu_start_fitter> make_cpu_start_fitter(const settings& s, const gradient_table& gradients);

}  // namespace voxherd::ballstick
