#pragma once

#include <memory>

#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/protocol.hpp"

namespace voxherd::noddi {

/// Best fits on the CPU. One object per thread, because it owns scratch memory.
class cpu_fitter {
 public:
  virtual ~cpu_fitter() = default;
  /// `signals`: in the protocol's order.
  virtual fit_result fit(const float* signals) = 0;
};

/// `p` outlives the fitter.
std::unique_ptr<cpu_fitter> make_cpu_fitter(const protocol& p, const settings& s);

}  // namespace voxherd::noddi
