#pragma once

#include <memory>
#include <string>

#include "bench/program.hpp"
#include "tests/connect/reference/connect_sweeping.hpp"

namespace voxherd::bench {

/// The other solvers of Table 1 in Jeong 2007, for the first front of connect_volume_named()'s `volume`, on one thread.
/// Timed: solve_by_sweeping(). Godunov sweeping is verified by the block solver's arrival times, Lax-Friedrichs by
/// known ones, or in a helix and in brains by an upper limit: it is never below Godunov's by more than rounding.
std::unique_ptr<problem> make_sweeping_problem(const std::string& volume, reference::sweeping_scheme scheme);

}  // namespace voxherd::bench
