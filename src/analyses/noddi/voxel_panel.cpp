#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "kernels/noddi/protocol.hpp"
#include "src/analyses/common/input_images.hpp"
#include "src/analyses/noddi/views.hpp"
#include "src/scan/single_voxels.hpp"
#include "src/show/common_figures.hpp"

namespace voxherd {

namespace view {

namespace {

noddi::settings stored_settings(const result_reader& r) {
  noddi::settings s;
  s.d_par_mm2_per_s = r.configuration().value("d-par", s.d_par_mm2_per_s);
  s.d_iso_mm2_per_s = r.configuration().value("d-iso", s.d_iso_mm2_per_s);
  return s;
}

class noddi_panel final : public voxel_panel {
 public:
  noddi_panel(const result_reader& r, const report::grid_view& grid)
      : result_(r),
        grid_(grid),
        maps_(r),
        gradients_(report::stored_gradients(r)),
        protocol_(gradients_, stored_settings(r)) {
    if (const auto files = find_input_images(r, "dwi"); !files.empty() && files.front().volumes == gradients_.size())
      series_.emplace(files, r.item_voxels());
  }

  nlohmann::json describe(std::uint64_t voxel) override {
    nlohmann::json j{{"status", maps_.status_text(voxel)}};
    if (!maps_.is_fitted(voxel)) return j;
    const std::uint64_t item = *maps_.find_item(voxel);
    j["fibres"] = {describe_direction(item)};
    j["parameters"] = maps_.describe(voxel);
    if (series_) {
      add_signal(voxel, item, j);
    } else {
      j["why_no_signal"] = "the series no longer exists, or has changed since the result was computed";
    }
    return j;
  }

 private:
  double value(const char* name, std::uint64_t item) const {
    return maps_.has(name) ? static_cast<double>(maps_.at(name, item).front()) : 0.0;
  }

  std::array<double, 3> axis(std::uint64_t item) const {
    const auto d = maps_.at("direction", item);
    return {d[0], d[1], d[2]};
  }

  /// The mean direction as a fibre with the signal's part from neurites.
  nlohmann::json describe_direction(std::uint64_t item) const {
    nlohmann::json f{{"fraction", value("tf", item) * value("NDI", item)}, {"direction", grid_.in_world(axis(item))}};
    if (!result_.has("th_samples")) return f;
    f["dispersion"] = value("direction_dispersion", item);
    const std::vector<float> polar = result_.read_items("th_samples", item, 1),
                             azimuth = result_.read_items("ph_samples", item, 1),
                             ndi = result_.read_items("NDI_samples", item, 1),
                             fwf = result_.read_items("FWF_samples", item, 1);
    f["samples"] = f["fractions"] = nlohmann::json::array();
    for (std::size_t s = 0; s < polar.size(); ++s) {
      const double th = polar[s], ph = azimuth[s];
      f["samples"].push_back(grid_.in_world({std::sin(th) * std::cos(ph), std::sin(th) * std::sin(ph), std::cos(th)}));
      f["fractions"].push_back((1 - fwf[s]) * ndi[s]);
    }
    return f;
  }

  /// Signal and fit against the angle to the mean direction, in degrees.
  void add_signal(std::uint64_t voxel, std::uint64_t item, nlohmann::json& j) {
    const std::array<double, 3> mean = axis(item);
    const std::vector<double> fit = noddi::predict_signals(
        protocol_,
        {value("S0", item), value("FWF", item), value("NDI", item), value("ODI", item), value("dot", item), mean});
    const std::vector<float> signal = series_->read(voxel);
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const double x = gradients_.x[i], y = gradients_.y[i], z = gradients_.z[i],
                   length = std::sqrt(x * x + y * y + z * z);
      const double cosine = std::abs(x * mean[0] + y * mean[1] + z * mean[2]) / (length > 0 ? length : 1);
      const bool has_angle = gradients_.b_s_per_mm2[i] > 0 && length > 0;
      j["b"].push_back(gradients_.b_s_per_mm2[i]);
      j["angle"].push_back(has_angle ? nlohmann::json(std::acos(std::min(1.0, cosine)) * 180 / std::numbers::pi)
                                     : nlohmann::json());
      j["signal"].push_back(signal[i]);
      j["fit"].push_back(fit[i]);
    }
  }

  const result_reader& result_;
  const report::grid_view& grid_;
  item_maps maps_;
  gradient_table gradients_;
  noddi::protocol protocol_;
  std::optional<single_voxels> series_;
};

}  // namespace

}  // namespace view

std::unique_ptr<view::voxel_panel> make_noddi_panel(const result_reader& r, const report::grid_view& grid) {
  return std::make_unique<view::noddi_panel>(r, grid);
}

}  // namespace voxherd
