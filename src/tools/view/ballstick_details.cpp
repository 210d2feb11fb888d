#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/single_voxels.hpp"
#include "src/tools/report/gradient_shells.hpp"
#include "src/tools/view/item_maps.hpp"
#include "src/tools/view/predicted_signal.hpp"
#include "src/tools/view/result_details.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;
using report::stored_gradients;

/// An input of the result; none if it has changed.
std::vector<nifti_header> find_images(const result_reader& r, const char* name) {
  const json inputs = r.provenance().value("inputs", json::object());
  if (!inputs.contains(name) || !describe_change(inputs.at(name)).empty()) return {};
  nifti_header h = read_nifti_header(inputs.at(name).at("path").get<std::string>());
  if (h.grid.size != r.grid().size) return {};
  return {h};
}

class ballstick_details final : public voxel_details {
 public:
  ballstick_details(const result_reader& r, const page_grid& grid)
      : result_(r), grid_(grid), maps_(r), gradients_(stored_gradients(r)) {
    if (const auto files = find_images(r, "dwi"); !files.empty() && files.front().volumes == gradients_.size())
      series_.emplace(files, r.item_voxels());
    if (const auto files = find_images(r, "grad_dev"); !files.empty()) deviation_.emplace(files, r.item_voxels());
    const json inputs = r.provenance().value("inputs", json::object());
    if (inputs.contains("grad_dev") && !deviation_) series_.reset();
    while (r.has(fmt::format("dyads{}", fibres_ + 1))) ++fibres_;
  }

  json describe(std::uint64_t voxel) override {
    json j{{"kind", "ballstick"}, {"status", maps_.status_text(voxel)}};
    if (!maps_.is_fitted(voxel)) return j;
    const std::uint64_t item = *maps_.find_item(voxel);
    j["fibres"] = json::array();
    for (int k = 1; k <= fibres_; ++k) j["fibres"].push_back(describe_fibre(k, item));
    j["parameters"] = maps_.describe(voxel);
    if (series_) {
      add_signal(voxel, item, j);
    } else {
      j["why_no_signal"] = "the series no longer exists, or has changed since the result was computed";
    }
    return j;
  }

 private:
  std::span<const float> value(const char* name, int k, std::uint64_t item) const {
    return maps_.at(fmt::format("{}{}", name, k), item);
  }

  std::array<double, 3> dyad(int k, std::uint64_t item) const {
    const auto d = value("dyads", k, item);
    return {d[0], d[1], d[2]};
  }

  json describe_fibre(int k, std::uint64_t item) const {
    json f{{"fraction", value("mean_f", k, item).front()}, {"direction", grid_.in_world(dyad(k, item))}};
    const std::string number = std::to_string(k);
    if (maps_.has("dyads" + number + "_dispersion"))
      f["dispersion"] = maps_.at("dyads" + number + "_dispersion", item).front();
    if (!result_.has("th" + number)) return f;
    const std::vector<float> polar = result_.read_items("th" + number, item, 1),
                             azimuth = result_.read_items("ph" + number, item, 1);
    f["fractions"] = result_.read_items("f" + number, item, 1);
    f["samples"] = json::array();
    for (std::size_t s = 0; s < polar.size(); ++s) {
      const double th = polar[s], ph = azimuth[s];
      f["samples"].push_back(grid_.in_world({std::sin(th) * std::cos(ph), std::sin(th) * std::sin(ph), std::cos(th)}));
    }
    return f;
  }

  ballstick_means means(std::uint64_t item) const {
    ballstick_means m;
    const int model = result_.configuration().value("model", 2);
    m.model = static_cast<ballstick::diffusion_model>(model);
    const auto mean = [&](const char* name) {
      const std::string map = fmt::format("mean_{}", name);
      return maps_.has(map) ? static_cast<double>(maps_.at(map, item).front()) : 0.0;
    };
    m.S0 = mean("S0"), m.d = mean("d"), m.d_std = mean("d_std"), m.ratio = mean("R"), m.f0 = mean("f0");
    for (int k = 1; k <= fibres_; ++k)
      m.fibres.push_back({static_cast<double>(value("mean_f", k, item).front()), dyad(k, item)});
    return m;
  }

  /// Signal and fit against the angle to the first fibre, in degrees.
  void add_signal(std::uint64_t voxel, std::uint64_t item, json& j) {
    const ballstick_means m = means(item);
    const std::vector<float> signal = series_->read(voxel);
    const std::vector<float> deviation = deviation_ ? deviation_->read(voxel) : std::vector<float>();
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const weighted_gradient g = weight(gradients_, i, deviation);
      const double along =
          std::abs(g.q[0] * m.fibres[0].along[0] + g.q[1] * m.fibres[0].along[1] + g.q[2] * m.fibres[0].along[2]);
      const double cosine = g.b > 0 ? std::min(1.0, along / std::sqrt(g.b)) : 0;
      j["b"].push_back(gradients_.b_s_per_mm2[i]);
      j["angle"].push_back(g.b > 0 ? json(std::acos(cosine) * 180 / std::numbers::pi) : json());
      j["signal"].push_back(signal[i]);
      j["fit"].push_back(predict_signal(m, g));
    }
  }

  const result_reader& result_;
  const page_grid& grid_;
  item_maps maps_;
  gradient_table gradients_;
  std::optional<single_voxels> series_, deviation_;
  int fibres_ = 0;
};

}  // namespace

std::unique_ptr<voxel_details> make_ballstick_details(const result_reader& r, const page_grid& grid) {
  return std::make_unique<ballstick_details>(r, grid);
}

}  // namespace voxherd::view
