#include <fmt/core.h>

#include <cmath>

#include "kernels/ballstick/fit_signal.hpp"
#include "src/analyses/ballstick/views.hpp"
#include "src/analyses/common/orientation_panel.hpp"

namespace voxherd {

namespace view {

namespace {

using ballstick::diffusion_model;
using nlohmann::json;
using report::grid_view;
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

weighted_gradient weight(const gradient_table& t, std::size_t i) {
  const double root = std::sqrt(t.b_s_per_mm2[i] * ms_per_um2);
  return {{t.x[i] * root, t.y[i] * root, t.z[i] * root}, t.b_s_per_mm2[i] * ms_per_um2};
}

/// The model's signal, with the attenuations of the fit.
double predict_signal(const ballstick_means& m, const weighted_gradient& g) {
  if (m.model == diffusion_model::mono_exponential) return predict<diffusion_model::mono_exponential>(m, g);
  if (m.model == diffusion_model::zeppelin) return predict<diffusion_model::zeppelin>(m, g);
  return predict<diffusion_model::gamma>(m, g);
}

class ballstick_panel final : public orientation_panel {
 public:
  ballstick_panel(const result_reader& r, const grid_view& grid) : orientation_panel(r, grid) {
    while (r.has(fmt::format("dyads{}", fibres_ + 1))) ++fibres_;
  }

 private:
  std::array<double, 3> first_direction(std::uint64_t item) const override { return direction("dyads1", item); }

  json describe_fibres(std::uint64_t item) const override {
    json fibres = json::array();
    for (int k = 1; k <= fibres_; ++k) fibres.push_back(describe_fibre(std::to_string(k), item));
    return fibres;
  }

  json describe_fibre(const std::string& k, std::uint64_t item) const {
    json f{{"fraction", value("mean_f" + k, item)}, {"direction", grid_.in_world(direction("dyads" + k, item))}};
    if (maps_.has("dyads" + k + "_dispersion")) f["dispersion"] = value("dyads" + k + "_dispersion", item);
    if (!result_.has("th" + k)) return f;
    f["fractions"] = result_.read_items("f" + k, item, 1);
    f["samples"] = sampled_directions("th" + k, "ph" + k, item);
    return f;
  }

  ballstick_means means(std::uint64_t item) const {
    ballstick_means m;
    m.model = static_cast<ballstick::diffusion_model>(result_.configuration().value("model", 2));
    m.S0 = value("mean_S0", item), m.d = value("mean_d", item), m.d_std = value("mean_d_std", item);
    m.ratio = value("mean_R", item), m.f0 = value("mean_f0", item);
    for (int k = 1; k <= fibres_; ++k)
      m.fibres.push_back({value(fmt::format("mean_f{}", k), item), direction(fmt::format("dyads{}", k), item)});
    return m;
  }

  std::vector<double> predict(std::uint64_t item, const gradient_table& gradients) const override {
    const ballstick_means m = means(item);
    std::vector<double> fit;
    for (std::size_t i = 0; i < gradients.size(); ++i) fit.push_back(predict_signal(m, weight(gradients, i)));
    return fit;
  }

  int fibres_ = 0;
};

}  // namespace

}  // namespace view

std::unique_ptr<view::voxel_panel> make_ballstick_panel(const result_reader& r, const report::grid_view& grid) {
  return std::make_unique<view::ballstick_panel>(r, grid);
}

}  // namespace voxherd
