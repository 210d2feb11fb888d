#pragma once

#include "tests/perfusion/reference/perfusion_reference.hpp"

namespace voxherd::reference {

/// Murase's linear least squares (Magn Reson Med 51:858, 2004) over the counted frames: C_i = ka int Ca(s - tau_a) + kp
/// int Cp(s - tau_p) - kl int C, up to t_i. The inputs' integrals are exact; that of C uses the trapezoid rule through
/// counted frames, starting at 0 at the first frame if that is not counted. Delays and `fixed` parameters are those of
/// `given`; no bounds. In long double, because the columns are nearly parallel.
perfusion_parameters murase_fit(const perfusion::time_course& frames, const std::vector<double>& y,
                                const perfusion_parameters& given, const std::array<bool, 3>& fixed);

}  // namespace voxherd::reference
