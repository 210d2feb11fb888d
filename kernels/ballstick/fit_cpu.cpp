#include "kernels/ballstick/ballstick_cpu.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/ballstick/fit_engine.hpp"
#include "kernels/ballstick/fitter.hpp"
#include "kernels/voxel_model/normal_equations_cpu.hpp"

namespace voxherd::ballstick {

namespace {

using team = cpu_team<double>;
using real = team::real;

/// Measurements of one voxel, padded to complete SIMD registers.
class measurements {
 public:
  explicit measurements(const gradient_table& g) : count_(static_cast<int>(g.size())) {
    const std::size_t padded = (g.size() + team::lanes - 1) / team::lanes * team::lanes;
    for (auto* column : {&q_[0], &q_[1], &q_[2], &table_[0], &table_[1], &table_[2], &signal_, &weight_})
      column->resize(padded, 0.0);
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double root_b = std::sqrt(g.b_s_per_mm2[i] * fitting::ms_per_um2);
      table_[0][i] = q_[0][i] = root_b * g.x[i];
      table_[1][i] = q_[1][i] = root_b * g.y[i];
      table_[2][i] = q_[2][i] = root_b * g.z[i];
      weight_[i] = 1;
    }
  }

  void read(const float* signals, const float* deviation) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) signal_[i] = static_cast<double>(signals[i]);
    if (deviation != nullptr) bend(deviation);
  }

  int count() const { return count_; }
  int slots() const { return static_cast<int>(signal_.size()) / team::lanes; }

  void load(int slot, real (&q)[3], real& signal, real& weight) const {
    for (std::size_t axis = 0; axis < 3; ++axis) q[axis] = team{}.load(q_[axis].data(), slot);
    signal = team{}.load(signal_.data(), slot);
    weight = team{}.load(weight_.data(), slot);
  }

 private:
  /// The effective gradients are (1 + L) g; their length includes the change of b.
  void bend(const float* deviation) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i)
      for (std::size_t line = 0; line < 3; ++line) {
        q_[line][i] = table_[line][i];
        for (std::size_t column = 0; column < 3; ++column)
          q_[line][i] += static_cast<double>(deviation[3 * column + line]) * table_[column][i];
      }
  }

  int count_;
  std::vector<double> q_[3], table_[3], signal_, weight_;
};

template <diffusion_model Model, int Fibres, bool Unattenuated>
class fitter final : public cpu_start_fitter {
 public:
  fitter(const settings& s, const gradient_table& gradients)
      : noise_(s.noise), ratio_(static_cast<double>(s.ratio_mean)), measurements_(gradients) {}

  double fit(const float* signals, const float* deviation, float* start) override {
    measurements_.read(signals, deviation);
    const auto result = fit_voxel<Model, Fibres, Unattenuated>(team{}, measurements_, ratio_, scratch_);
    store_start<Model, Fibres, Unattenuated>(result, noise_, ratio_, start);
    return result.sum_of_squares;
  }

 private:
  noise_model noise_;
  double ratio_;
  measurements measurements_;
  fitting::scratch<team, fitting::shape<Model, Fibres, Unattenuated>> scratch_;
};

using maker = std::unique_ptr<cpu_start_fitter> (*)(const settings&, const gradient_table&);

template <diffusion_model Model, int Fibres, bool Unattenuated>
std::unique_ptr<cpu_start_fitter> make(const settings& s, const gradient_table& g) {
  return std::make_unique<fitter<Model, Fibres, Unattenuated>>(s, g);
}

template <diffusion_model Model, bool Unattenuated>
maker maker_for(int fibres) {
  constexpr std::array<maker, max_fibres> makers{make<Model, 1, Unattenuated>, make<Model, 2, Unattenuated>,
                                                 make<Model, 3, Unattenuated>, make<Model, 4, Unattenuated>};
  return makers.at(static_cast<std::size_t>(fibres - 1));
}

template <diffusion_model Model>
maker maker_for(int fibres, bool unattenuated) {
  return unattenuated ? maker_for<Model, true>(fibres) : maker_for<Model, false>(fibres);
}

maker maker_for(const settings& s) {
  switch (s.model) {
    case diffusion_model::mono_exponential:
      return maker_for<diffusion_model::mono_exponential>(s.fibres, s.unattenuated);
    case diffusion_model::gamma:
      return maker_for<diffusion_model::gamma>(s.fibres, s.unattenuated);
    case diffusion_model::zeppelin:
      break;
  }
  return maker_for<diffusion_model::zeppelin>(s.fibres, s.unattenuated);
}

}  // namespace

std::unique_ptr<cpu_start_fitter> make_cpu_start_fitter(const settings& s, const gradient_table& gradients) {
  return maker_for(s)(s, gradients);
}

}  // namespace voxherd::ballstick
