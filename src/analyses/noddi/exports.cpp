#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/analyses/noddi/views.hpp"

namespace voxherd {

namespace {

struct other_name {
  const char *output, *name;
};

void require_noddi(const result_volumes& result, const char* kind) {
  if (result.has("NDI") && result.has("FWF")) return;
  refuse_data("{}: --to {}: is a result of {}, expected one of noddi; use --to nifti for the maps of any result",
              result.result().path(), kind, result.result().analysis_name());
}

void add_maps(export_plan& plan, const result_volumes& result, std::initializer_list<other_name> maps) {
  for (const auto& [output, name] : maps)
    if (result.has(output)) plan.images.push_back(map_image(result, output, fmt::format("{}.nii.gz", name)));
}

/// NODDI_ICVF etc., as in dMRI/dMRI of UK Biobank.
export_plan plan_ukb_noddi(const result_volumes& result) {
  require_noddi(result, "ukb-noddi");
  export_plan plan;
  add_maps(plan, result, {{"NDI", "NODDI_ICVF"}, {"ODI", "NODDI_OD"}, {"FWF", "NODDI_ISOVF"}});
  return plan;
}

void export_cudimot(session& s, const export_settings& settings) { export_folder(s, settings, plan_cudimot_folder); }
void export_ukb(session& s, const export_settings& settings) { export_folder(s, settings, plan_ukb_noddi); }

}  // namespace

export_plan plan_cudimot_folder(const result_volumes& result) {
  require_noddi(result, "cudimot");
  export_plan plan;
  const bool is_bingham = result.has("beta");
  add_maps(plan, result,
           {{"NDI", "mean_fintra"},
            {"FWF", "mean_fiso"},
            {"kappa", "mean_kappa"},
            {"beta", "mean_beta"},
            {"ODI", is_bingham ? "ODItot" : "OD"},
            {"ODIp", "ODIp"},
            {"ODIs", "ODIs"},
            {"DA", "DA"},
            {"direction", "dyads1"},
            {"direction_dispersion", "dyads1_dispersion"},
            {"fanning_direction", "fanningDir"},
            {"fanning_direction_dispersion", "fanningDir_dispersion"},
            {"S0", "mean_S0"},
            {"sigma", "mean_sigma"}});
  for (const auto& [output, name] : {other_name{"NDI_samples", "fintra_samples"},
                                     {"FWF_samples", "fiso_samples"},
                                     {"kappa_samples", "kappa_samples"},
                                     {"beta_samples", "beta_samples"},
                                     {"ODI_samples", is_bingham ? "ODItot_samples" : "OD_samples"},
                                     {"th_samples", "th_samples"},
                                     {"ph_samples", "ph_samples"},
                                     {"psi_samples", "psi_samples"}}) {
    if (!result.has(output)) continue;
    const output_spec& o = result.result().output(output);
    plan.images.push_back({fmt::format("{}.nii.gz", name),
                           describe_image(result, result.components(output), fmt::format("[{}] {}", o.unit, o.meaning)),
                           needed_samples({output}),
                           [output = std::string(output)](const image_source& r, const volume_sink& sink) {
                             r.samples({output}, sink);
                           }});
  }
  plan.images.push_back({"nodif_brain_mask.nii.gz",
                         describe_image(result, 1, "voxels that were analysed", 0, 1),
                         {},
                         [](const image_source& r, const volume_sink& sink) { sink(r.mask()); }});
  return plan;
}

extern const export_kind cudimot_export{
    "cudimot", "DIR", "the folder of cuDIMOT's Pipeline_NODDI_Watson.sh, or _Bingham.sh", false, export_cudimot};
extern const export_kind ukb_noddi_export{"ukb-noddi", "DIR", "NODDI's maps with UK Biobank's names", false,
                                          export_ukb};

}  // namespace voxherd
