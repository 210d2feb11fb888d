#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/io/surfaces/surfaces.hpp"
#include "src/show/draft.hpp"

namespace voxherd {

/// Numbers of a surface's vertices that a result knows.
struct vertex_map {
  std::string name, unit, meaning;
  std::string none;                                ///< what a vertex without a value is: "no seed"
  std::vector<float> values;                       ///< one per vertex; not a number: none
  std::map<std::int32_t, std::string> names = {};  ///< of values that are labels
  std::vector<std::int32_t> labels = {};           ///< the values without rounding, if they are labels
};

/// A surface among the masks of a run.
struct shown_surface {
  std::string name;     ///< of its file
  std::string why_not;  ///< why it cannot be shown; "" if it can
  surface mesh;         ///< points in mm of the world
  std::vector<vertex_map> maps;
};

namespace report {

/// Adds a section with a figure for each map that the surfaces have: every surface from two or three sides. Nothing
/// without surfaces.
void add_surfaces(draft& d, const std::vector<shown_surface>& surfaces);

}  // namespace report

}  // namespace voxherd
