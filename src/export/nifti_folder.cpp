#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

namespace {

/// Every map of any result as NAME.nii.gz.
export_plan plan_nifti_folder(const result_volumes& result) {
  export_plan plan;
  for (const output_spec& o : result.result().outputs())
    if (o.layout == output_layout::volume) plan.images.push_back(map_image(result, o.name, o.name + ".nii.gz"));
  if (plan.images.empty())
    throw failure(exit_status::bad_data, fmt::format("{}: is a result of {} without maps; use --to trx for fibres",
                                                     result.result().path(), result.result().analysis_name()));
  return plan;
}

void run(session& s, const export_settings& settings) { export_folder(s, settings, plan_nifti_folder); }

}  // namespace

extern const export_kind nifti_export{"nifti", "DIR", "all maps", false, run};

}  // namespace voxherd
