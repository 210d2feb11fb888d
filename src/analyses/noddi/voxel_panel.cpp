#include "kernels/noddi/bingham_model.hpp"
#include "kernels/noddi/protocol.hpp"
#include "src/analyses/common/orientation_panel.hpp"
#include "src/analyses/noddi/views.hpp"

namespace voxherd {

namespace view {

namespace {

noddi::settings stored_settings(const result_reader& r) {
  noddi::settings s;
  s.d_par_mm2_per_s = r.configuration().value("d-par", s.d_par_mm2_per_s);
  s.d_iso_mm2_per_s = r.configuration().value("d-iso", s.d_iso_mm2_per_s);
  return s;
}

class noddi_panel final : public orientation_panel {
 public:
  using orientation_panel::orientation_panel;

 private:
  std::array<double, 3> first_direction(std::uint64_t item) const override { return direction("direction", item); }

  /// The mean direction as a fibre with the signal's part from neurites.
  nlohmann::json describe_fibres(std::uint64_t item) const override {
    nlohmann::json f{{"fraction", value("tf", item) * value("NDI", item)},
                     {"direction", grid_.in_world(first_direction(item))}};
    if (!result_.has("th_samples")) return nlohmann::json::array({f});
    f["dispersion"] = value("direction_dispersion", item);
    f["samples"] = sampled_directions("th_samples", "ph_samples", item);
    const std::vector<float> ndi = result_.read_items("NDI_samples", item, 1),
                             fwf = result_.read_items("FWF_samples", item, 1);
    f["fractions"] = nlohmann::json::array();
    for (std::size_t s = 0; s < std::min(ndi.size(), fwf.size()); ++s) f["fractions"].push_back((1 - fwf[s]) * ndi[s]);
    return nlohmann::json::array({f});
  }

  std::vector<double> predict(std::uint64_t item, const gradient_table& gradients) const override {
    if (result_.has("beta"))
      return predict_signals(
          gradients, stored_settings(result_),
          {value("S0", item), value("FWF", item), value("NDI", item), value("ODIs", item), value("beta_fraction", item),
           first_direction(item), direction("fanning_direction", item), value("dot", item)});
    return noddi::predict_signals(noddi::protocol(gradients, stored_settings(result_),
                                                  deviates() ? static_cast<int>(gradients.size()) : noddi::max_shells),
                                  {value("S0", item), value("FWF", item), value("NDI", item), value("ODI", item),
                                   value("dot", item), first_direction(item)});
  }
};

}  // namespace

}  // namespace view

std::unique_ptr<view::voxel_panel> make_noddi_panel(const result_reader& r, const report::grid_view& grid) {
  return std::make_unique<view::noddi_panel>(r, grid);
}

}  // namespace voxherd
