#pragma once

#include <memory>

#include "src/show/draft.hpp"
#include "src/show/methods.hpp"
#include "src/show/panels.hpp"

namespace voxherd {

/// Whether the number of fibres is chosen in each voxel (--fibre-odds), not by the relevance prior.
bool is_number_of_fibres_chosen(const result_reader& r);

namespace report {

void write_ballstick_chapter(result_draft& d);
void write_ballstick_methods(methods_text& m);

/// Pictures and distributions of the ball & stick model's maps, which a result and FSL's folder have. Returns the
/// number of fibres.
int add_ballstick_maps(draft& d);
void add_ballstick_distributions(draft& d, int fibres);

}  // namespace report

/// Orientations, their samples, and signal and fit of a voxel.
std::unique_ptr<view::voxel_panel> make_ballstick_panel(const result_reader& r, const report::grid_view& grid);

}  // namespace voxherd
