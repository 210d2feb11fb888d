#include "src/analyses/common/orientation_panel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/failure.hpp"
#include "kernels/voxel_model/deviated_gradients.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/companion.hpp"

namespace voxherd::view {

using nlohmann::json;

namespace {

/// An input of a result, in the order of its maps; none if it no longer exists or has changed.
std::vector<nifti_header> find_input_images(const result_reader& r, const char* name) {
  const json inputs = r.provenance().value("inputs", json::object());
  if (!inputs.contains(name) || !describe_change(inputs.at(name)).empty()) return {};
  nifti_header h = read_nifti_header(inputs.at(name).at("path").get<std::string>());
  if (!bring_unchecked(h, r.grid(), inputs.value("image", json()))) return {};
  return {h};
}

}  // namespace

orientation_panel::orientation_panel(const result_reader& r, const report::grid_view& grid)
    : result_(r), grid_(grid), maps_(r), gradients_(report::stored_gradients(r)) {
  if (const auto files = find_input_images(r, "dwi"); !files.empty() && files.front().volumes == gradients_.size())
    series_.emplace(files, r.item_voxels());
  const json inputs = r.provenance().value("inputs", json::object());
  if (const auto files = find_input_images(r, "grad_dev"); !files.empty()) {
    deviation_.emplace(files, r.item_voxels());
    read_deviation_ = {stored_deviation_form(inputs.at("grad_dev")), r.grid(), files.front().order};
  }
  if (inputs.contains("grad_dev") && !deviation_) series_.reset();
}

json orientation_panel::describe(std::uint64_t voxel) {
  json j{{"status", maps_.status_text(voxel)}};
  if (!maps_.is_fitted(voxel)) return j;
  const std::uint64_t item = *maps_.find_item(voxel);
  j["fibres"] = describe_fibres(item);
  j["parameters"] = maps_.describe(voxel);
  if (series_) {
    add_signal(voxel, item, j);
  } else {
    j["why_no_signal"] = "the series no longer exists, or has changed since the result was computed";
  }
  return j;
}

double orientation_panel::value(const std::string& map, std::uint64_t item) const {
  return maps_.has(map) ? static_cast<double>(maps_.at(map, item).front()) : 0.0;
}

std::array<double, 3> orientation_panel::direction(const std::string& map, std::uint64_t item) const {
  const auto d = maps_.at(map, item);
  if (d.size() != 3) refuse_data("{}: `{}` is not a map of directions", result_.path(), map);
  return {d[0], d[1], d[2]};
}

json orientation_panel::sampled_directions(const std::string& polar, const std::string& azimuth,
                                           std::uint64_t item) const {
  const std::vector<float> ths = result_.read_items(polar, item, 1), phs = result_.read_items(azimuth, item, 1);
  if (ths.size() != phs.size())
    refuse_data("{}: {} and {} have different numbers of samples", result_.path(), polar, azimuth);
  json directions = json::array();
  for (std::size_t s = 0; s < ths.size(); ++s) {
    const double th = ths[s], ph = phs[s];
    directions.push_back(grid_.in_world({std::sin(th) * std::cos(ph), std::sin(th) * std::sin(ph), std::cos(th)}));
  }
  return directions;
}

/// Against the angle to the first direction, in degrees.
void orientation_panel::add_signal(std::uint64_t voxel, std::uint64_t item, json& j) {
  gradient_table g = gradients_;
  if (deviation_) {
    std::vector<float> deviation = deviation_->read(voxel);
    read_deviation_(deviation.data());
    g = voxel_model::deviated(gradients_, deviation.data());
  }
  const std::array<double, 3> first = first_direction(item);
  const std::vector<float> signal = series_->read(voxel);
  const std::vector<double> fit = predict(item, g);
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double length = std::sqrt(g.x[i] * g.x[i] + g.y[i] * g.y[i] + g.z[i] * g.z[i]);
    const double cosine =
        std::abs(g.x[i] * first[0] + g.y[i] * first[1] + g.z[i] * first[2]) / (length > 0 ? length : 1);
    const bool has_angle = g.b_s_per_mm2[i] > 0 && length > 0;
    j["b"].push_back(gradients_.b_s_per_mm2[i]);
    j["angle"].push_back(has_angle ? json(std::acos(std::min(1.0, cosine)) * 180 / std::numbers::pi) : json());
    j["signal"].push_back(signal[i]);
    j["fit"].push_back(fit[i]);
  }
}

}  // namespace voxherd::view
