#include <utility>

#include "src/export/bids_plans.hpp"

namespace voxherd {

bids_json direction_encoding(const char* type) { return {{"EncodingAxis", 3}, {"Reference", "bvec"}, {"Type", type}}; }

model_plan::model_plan(const bids_place& place, const std::string& model, bids_json description,
                       const std::string& suffix)
    : begin_(place.folder + "/" + place.name + "_model-" + model),
      suffix_("_" + suffix),
      sources_(place.sources),
      model_(std::move(description)) {}

void model_plan::add(const std::string& parameter, const std::string& desc, nifti_image form,
                     std::function<void(const result_volumes&, const volume_sink&)> make, bids_json sidecar) {
  sidecar["Model"] = model_;
  if (!sources_.empty()) sidecar["Sources"] = sources_;
  const std::string name = begin_ + "_param-" + parameter + (desc.empty() ? "" : "_desc-" + desc) + suffix_;
  plan_.images.push_back({name + ".nii.gz", std::move(form), std::move(make)});
  plan_.texts.push_back({name + ".json", sidecar.dump(2) + "\n"});
}

void model_plan::add_map(const result_volumes& result, const std::string& parameter, const std::string& desc,
                         const std::string& map, const bids_json& sidecar) {
  export_image image = map_image(result, map, "");
  add(parameter, desc, std::move(image.form), std::move(image.make), sidecar);
}

}  // namespace voxherd
