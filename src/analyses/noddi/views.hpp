#pragma once

#include <memory>

#include "src/export/export_plan.hpp"
#include "src/show/draft.hpp"
#include "src/show/methods.hpp"
#include "src/show/panels.hpp"

namespace voxherd {

namespace report {

void write_noddi_chapter(result_draft& d);
void write_noddi_methods(methods_text& m);

}  // namespace report

/// The folder that cuDIMOT's Pipeline_NODDI_Watson.sh or Pipeline_NODDI_Bingham.sh writes. Throws failure (bad_data)
/// for a result of another analysis.
export_plan plan_cudimot_folder(const result_volumes& result);

extern const export_kind cudimot_export, ukb_noddi_export;

/// Direction, its samples, and signal and fit of a voxel.
std::unique_ptr<view::voxel_panel> make_noddi_panel(const result_reader& r, const report::grid_view& grid);

}  // namespace voxherd
