#pragma once

#include <string>

#include "core/failure.hpp"
#include "kernels/voxel_model/model_estimator.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/common/model_options.hpp"
#include "src/analyses/common/model_runner.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// The analysis of a model (kernels/voxel_model/model.hpp).
template <class Model>
class model_analysis final : public voxelwise_base<dwi_series> {
  using settings = voxel_model::settings_of<Model>;

 public:
  /// `more`: constants of the result besides those of the series.
  model_analysis(std::string name, dwi_series& dwi, const device& d, const Model& model, const settings& s,
                 std::vector<constant> more)
      : voxelwise_base(std::move(name), dwi, d, std::move(more)), model_(model), settings_(s) {}

  std::vector<output_spec> outputs() const override { return voxel_model::list_outputs<Model>(settings_); }
  std::size_t device_bytes_per_item() const override {
    return voxel_model::device_bytes_per_voxel<Model>(settings_, input_.measurements(),
                                                      input_.has_gradient_deviation());
  }
  std::unique_ptr<batch_runner> make_runner() const override { return make_runner(settings_); }
  std::uint64_t parts_of_item(std::uint64_t) const override { return voxel_model::parts_of_chain(settings_.lengths()); }
  bool are_computed_side_by_side() const override { return true; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t parts) const override {
    return make_runner(voxel_model::with_parts_of_chain(settings_, parts));
  }
  std::uint64_t last_items_per_batch() const override {
    if constexpr (requires { Model::last_items_per_batch(std::size_t{}); })
      return Model::last_items_per_batch(input_.measurements());
    return voxelwise_base::last_items_per_batch();
  }

 private:
  /// The outputs are those of the run's settings, also of a probe.
  std::unique_ptr<batch_runner> make_runner(const settings& s) const {
    return std::make_unique<model_runner<voxel_model::outputs_of<Model>>>(
        voxel_model::make_estimator(device_, model_, input_.gradients(), input_.has_gradient_deviation(), s), settings_,
        outputs(), input_.item_voxels());
  }

  Model model_;
  settings settings_;
};

/// Runs such an analysis over all ranks. A request has the parts `series`, `regions` and `run`. `make_model` is called
/// on every rank with the gradients; what it throws there is the same on all. Collective.
template <class Request, class Settings, class MakeModel>
exit_status run_model(session& s, const std::string& name, const option_table<Request>& options, const Request& request,
                      const Settings& settings, const char* export_words, const MakeModel& make_model) {
  run_settings how = make_run_settings(s, request.run);
  how.export_words = export_words;
  dwi_request files = request.series;
  files.needs_b0 = false;  // S0 is a parameter
  dwi_series dwi(s, files, request.run.host_memory_bytes());
  const auto model = make_model(dwi.gradients());
  add_stored(options, request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();
  std::vector<constant> regions = share_item_regions(s, request.regions, dwi.grid(), dwi.item_voxels(), how);

  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  model_analysis<std::decay_t<decltype(model)>> voxels(name, dwi, d, model, settings, std::move(regions));
  return run(s, voxels, how, hooks_for(d));
}

/// The same of a model that is only a header: the request has the part `estimation`.
template <class Request, class Model>
exit_status run_model(session& s, const std::string& name, const option_table<Request>& options, const Request& request,
                      const Model& model) {
  return run_model(s, name, options, request, request.estimation.settings(), "nifti DIR", [&](const gradient_table& g) {
    constexpr std::size_t values = voxel_model::model_outputs<Model>::values;
    if (g.size() <= values)
      refuse_data("{}: {} volumes cannot determine {} parameters, expected more", request.series.dwi, g.size(), values);
    return model;
  });
}

}  // namespace voxherd
