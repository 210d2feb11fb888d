#pragma once

#include <functional>
#include <vector>

#include "tests/perfusion/reference/perfusion_reference.hpp"

namespace voxherd::reference {

/// Action of a simplex iteration: the letters of the traces in data/perfusion_reference.
enum class simplex_action : char { reflect = 'R', expand = 'E', outside = 'O', inside = 'I', shrink = 'S' };

struct simplex_step {
  simplex_action action;
  double f_best, f_worst;  ///< after the step
  perfusion_parameters best;
};

struct simplex_fit {
  perfusion_parameters best{};
  double cost = 0;
  int iterations = 0, evaluations = 0;
  bool converged = false;
  std::vector<simplex_step> trace;
};

struct simplex_rules {
  double absolute_tolerance = 1e-8;  ///< stop when max f - min f is below
  double relative_tolerance = 0;     ///< or below this times min f
  int max_iterations = 600;
  std::array<bool, perfusion::dual_parameters> fixed{};  ///< these stay at the start and have no vertex
};

/// Lagarias et al., SIAM J Optim 9:112, 1998, with fminsearch's first simplex: the start, and the start with one
/// parameter 5 % larger (0.00025 if it is zero).
simplex_fit nelder_mead(const std::function<double(const perfusion_parameters&)>& f, const perfusion_parameters& start,
                        const simplex_rules& rules = {});

}  // namespace voxherd::reference
