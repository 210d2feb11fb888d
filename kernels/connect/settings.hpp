#pragma once

#include <cstdint>

namespace voxherd::connect {

/// The scheme that computes an arrival time from its neighbours'.
enum class scheme_kind {
  selling,    ///< Selling's decomposition of S into six integer directions (Mirebeau 2014)
  godunov27,  ///< Godunov's Hamiltonian over 27 cases (Jeong 2007, section 4.2)
  hl26,       ///< Hopf-Lax over the 48 tetrahedra of 26 neighbours (Bornemann & Rasch 2006)
};

struct solver_settings {
  scheme_kind scheme = scheme_kind::selling;
  int order = 1;  ///< 2: second-order differences along the directions chosen by first order; only with selling
  float tolerance = 1e-6f;  ///< smaller relative changes of an arrival time are ignored
  bool in_place = false;    ///< blocks see each other's newest values: faster, but not reproducible to the byte
};

/// How a path is traced back to its source.
struct path_settings {
  float step_voxels = 0.25f;
  std::uint32_t max_steps = 10000;
};

}  // namespace voxherd::connect
