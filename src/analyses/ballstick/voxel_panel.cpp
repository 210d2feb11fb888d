#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "core/failure.hpp"
#include "kernels/ballstick/fit_signal.hpp"
#include "src/analyses/ballstick/views.hpp"
#include "src/analyses/common/input_images.hpp"
#include "src/scan/gradient_deviation.hpp"
#include "src/scan/single_voxels.hpp"
#include "src/show/common_figures.hpp"

namespace voxherd {

namespace view {

namespace {

using ballstick::diffusion_model;
using nlohmann::json;
using report::grid_view;
using report::stored_gradients;
namespace fitting = ballstick::fitting;

constexpr double um2_per_ms = 1e3;   // from mm2/s
constexpr double ms_per_um2 = 1e-3;  // from s/mm2

/// Posterior means of one voxel. Diffusivities in mm2/s, directions in the frame of the bvecs.
struct ballstick_means {
  struct fibre {
    double fraction = 0;
    std::array<double, 3> along{};
  };
  ballstick::diffusion_model model = ballstick::diffusion_model::gamma;
  double S0 = 0, d = 0, d_std = 0, ratio = 0, f0 = 0;
  std::vector<fibre> fibres;
};

/// One measurement: direction times the square root of b, and b, in ms/um2.
struct weighted_gradient {
  std::array<double, 3> q{};
  double b = 0;
};
template <diffusion_model Model>
double predict(const ballstick_means& m, const weighted_gradient& g) {
  const double d = m.d * um2_per_ms, scale = m.d > 0 ? m.d_std * m.d_std / m.d * um2_per_ms : 0;
  double ball = 1 - m.f0, sum = m.f0;
  for (const auto& fibre : m.fibres) {
    const double along = g.q[0] * fibre.along[0] + g.q[1] * fibre.along[1] + g.q[2] * fibre.along[2];
    sum += fibre.fraction * fitting::stick_attenuation<Model>(along * along, g.b, d, scale, m.ratio).value;
    ball -= fibre.fraction;
  }
  return m.S0 * (sum + ball * fitting::ball_attenuation<Model>(g.b, d, scale).value);
}

/// `deviation`: nine numbers of the gradient non-linearity in FSL's order, or none.
weighted_gradient weight(const gradient_table& t, std::size_t i, const std::vector<float>& deviation) {
  const double root = std::sqrt(t.b_s_per_mm2[i] * ms_per_um2);
  weighted_gradient g{{t.x[i] * root, t.y[i] * root, t.z[i] * root}, t.b_s_per_mm2[i] * ms_per_um2};
  if (deviation.size() != 9) return g;
  const std::array<double, 3> nominal = g.q;
  g.b = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      g.q[row] += static_cast<double>(deviation[3 * column + row]) * nominal[column];
    g.b += g.q[row] * g.q[row];
  }
  return g;
}

/// The model's signal, with the attenuations of the fit.
double predict_signal(const ballstick_means& m, const weighted_gradient& g) {
  if (m.model == diffusion_model::mono_exponential) return predict<diffusion_model::mono_exponential>(m, g);
  if (m.model == diffusion_model::zeppelin) return predict<diffusion_model::zeppelin>(m, g);
  return predict<diffusion_model::gamma>(m, g);
}

class ballstick_panel final : public voxel_panel {
 public:
  ballstick_panel(const result_reader& r, const grid_view& grid)
      : result_(r), grid_(grid), maps_(r), gradients_(stored_gradients(r)) {
    if (const auto files = find_input_images(r, "dwi"); !files.empty() && files.front().volumes == gradients_.size())
      series_.emplace(files, r.item_voxels());
    if (const auto files = find_input_images(r, "grad_dev"); !files.empty()) deviation_.emplace(files, r.item_voxels());
    const json inputs = r.provenance().value("inputs", json::object());
    if (inputs.contains("grad_dev") && !deviation_) series_.reset();
    if (deviation_) read_deviation_ = {stored_deviation_form(inputs.at("grad_dev")), r.grid()};
    while (r.has(fmt::format("dyads{}", fibres_ + 1))) ++fibres_;
  }

  json describe(std::uint64_t voxel) override {
    json j{{"status", maps_.status_text(voxel)}};
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
    std::vector<float> deviation = deviation_ ? deviation_->read(voxel) : std::vector<float>();
    if (deviation_) read_deviation_(deviation.data());
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
  const grid_view& grid_;
  item_maps maps_;
  gradient_table gradients_;
  std::optional<single_voxels> series_, deviation_;
  deviation_reader read_deviation_;
  int fibres_ = 0;
};

}  // namespace

}  // namespace view

std::unique_ptr<view::voxel_panel> make_ballstick_panel(const result_reader& r, const report::grid_view& grid) {
  return std::make_unique<view::ballstick_panel>(r, grid);
}

}  // namespace voxherd
