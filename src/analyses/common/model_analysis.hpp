#pragma once

#include <fmt/core.h>

#include <string>

#include "core/failure.hpp"
#include "kernels/voxel_model/model_estimator.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/common/model_options.hpp"
#include "src/analyses/common/model_runner.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// An analysis defined completely by a model (kernels/voxel_model/model.hpp).
template <class Model>
class model_analysis final : public voxelwise_base<dwi_series>, public divisible_items {
 public:
  /// `more`: constants of the result besides those of the series.
  model_analysis(std::string name, dwi_series& dwi, const device& d, const Model& model,
                 const voxel_model::settings& settings, std::vector<constant> more = {})
      : voxelwise_base(std::move(name), dwi, d), model_(model), settings_(settings), more_(std::move(more)) {}

  std::vector<output_spec> outputs() const override { return voxel_model::list_outputs<Model>(settings_); }
  std::vector<constant> constants() const override {
    std::vector<constant> list = voxelwise_base::constants();
    list.insert(list.end(), more_.begin(), more_.end());
    return list;
  }
  std::size_t device_bytes_per_item() const override {
    return voxel_model::device_bytes_per_voxel<Model>(settings_, input_.measurements());
  }
  std::unique_ptr<batch_runner> make_runner() const override { return make_runner(settings_); }
  std::uint64_t parts_of_item(std::uint64_t) const override { return voxel_model::parts_of_chain(settings_.lengths()); }
  bool are_computed_side_by_side() const override { return true; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t parts) const override {
    return make_runner(voxel_model::with_parts_of_chain(settings_, parts));
  }

 private:
  std::unique_ptr<batch_runner> make_runner(const voxel_model::settings& settings) const {
    return std::make_unique<model_runner<voxel_model::model_outputs<Model>>>(
        voxel_model::make_estimator(device_, model_, input_.gradients(), input_.has_gradient_deviation(), settings),
        settings_, outputs(), input_.item_voxels());
  }

  Model model_;
  voxel_model::settings settings_;
  std::vector<constant> more_;
};

/// Runs such an analysis over all ranks. A request has the parts `series`, `estimation` and `run`; `make_model` is
/// called with the gradients. Collective.
template <class Request, class MakeModel>
exit_status run_model(session& s, const std::string& name, const option_table<Request>& options, const Request& request,
                      const MakeModel& make_model) {
  run_settings how = make_run_settings(s, request.run);
  how.export_words = "nifti DIR";
  dwi_request files = request.series;
  files.needs_b0 = false;  // S0 is a parameter
  dwi_series dwi(s, files, request.run.host_memory_bytes());
  const auto model = make_model(dwi.gradients());
  using model_type = std::decay_t<decltype(model)>;
  constexpr std::size_t values = voxel_model::model_outputs<model_type>::values;
  if (dwi.measurements() <= values)
    throw failure(exit_status::bad_data, fmt::format("{}: {} volumes cannot determine {} parameters, expected more",
                                                     files.dwi, dwi.measurements(), values));
  add_stored(options, request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();

  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  model_analysis<model_type> voxels(name, dwi, d, model, request.estimation.settings());
  return run(s, voxels, how, hooks_for(d));
}

}  // namespace voxherd
