#pragma once

#include <cstdint>

namespace voxherd::connect {

/// How an arrival time follows from its neighbours'.
enum class scheme_kind {
  selling,    ///< Selling's decomposition of S into six whole-number directions (Mirebeau 2014)
  godunov27,  ///< Godunov's Hamiltonian over 27 cases (Jeong 2007, section 4.2)
  hl26,       ///< Hopf-Lax over the 48 tetrahedra of 26 neighbours (Bornemann & Rasch 2006)
};

struct solver_settings {
  scheme_kind scheme = scheme_kind::selling;
  int order = 1;  ///< 2: differences of second order along the directions that first order chose; selling alone
  float tolerance = 1e-6f;  ///< a change below this part of an arrival time is none
  bool in_place = false;    ///< blocks see each other's newest values: faster, but no two runs give the same bytes
};

/// How a path is followed back to its source.
struct path_settings {
  float step_voxels = 0.25f;
  std::uint32_t max_steps = 10000;
};

}  // namespace voxherd::connect
