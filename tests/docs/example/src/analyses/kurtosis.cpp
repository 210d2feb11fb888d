#include "core/command.hpp"
#include "kernels/kurtosis/kurtosis_model.hpp"
#include "src/analyses/common/model_analysis.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

struct kurtosis_request {
  dwi_request series;
  item_region_request regions;
  estimation_request estimation;
  run_request run;
};

const option_table<kurtosis_request>& kurtosis_options() {
  using T = kurtosis_request;
  static const option_table<T> table = option_table<T>()
                                           .include(&T::series, dwi_options())
                                           .include(&T::regions, item_region_options())
                                           .include(&T::estimation, estimation_options())
                                           .include(&T::run, run_options());
  return table;
}

exit_status run_kurtosis(session& s, const kurtosis_request& request) {
  return run_model(s, "kurtosis", kurtosis_options(), request, kurtosis_model{});
}

extern const command kurtosis_command = make_command<kurtosis_options, run_kurtosis>(
    {"kurtosis", "mean diffusivity and kurtosis"}, [] { return voxel_model::list_outputs<kurtosis_model>({}); });

extern const analysis_views kurtosis_views{
    .analysis = "kurtosis",
    .maps = {{.output = "D", .note = "It is high in fluid.", .bids_parameter = "d"},
             {.output = "K", .note = "It is high in white matter.", .bids_parameter = "k"}}};

}  // namespace voxherd
