#include "kernels/noddi/noddi_cpu.hpp"

#include <vector>

#include "kernels/portable/cpu_team.hpp"
#include "kernels/voxel_model/normal_equations_cpu.hpp"

namespace voxherd::noddi {

namespace {

using team = cpu_team<double>;
using real = team::real;

/// Measurements of one voxel, padded to complete SIMD registers.
class cpu_measurements {
 public:
  cpu_measurements(const protocol& p) : count_(static_cast<int>(p.measurements())) {
    const std::size_t padded = (p.measurements() + team::lanes - 1) / team::lanes * team::lanes;
    const auto column = [&](const std::vector<double>& from) {
      std::vector<double> to = from;
      to.resize(padded, 0.0);
      return to;
    };
    x_ = column(p.x), y_ = column(p.y), z_ = column(p.z), b_ = column(p.b), isotropic_ = column(p.isotropic);
    weight_ = column(std::vector<double>(p.measurements(), 1.0));
    low_b_ = column(std::vector<double>(p.low_b.begin(), p.low_b.end()));
    signal_.resize(padded, 0.0);
    std::vector<std::int32_t> shell = p.shell;
    shell.resize(padded, p.shell.back());
    for (const std::int32_t s : shell) first_.push_back(s * p.terms);
    for (std::size_t i = 0; i < padded; i += team::lanes)
      one_shell_.push_back(first_[i] == first_[i + team::lanes - 1]);  // in the order of b-values
  }

  void read(const float* signals) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) signal_[i] = static_cast<double>(signals[i]);
  }

  int count() const { return count_; }
  int slots() const { return static_cast<int>(signal_.size()) / team::lanes; }

  measurement<real> load(int slot) const {
    const auto take = [&](const std::vector<double>& column) { return team{}.load(column.data(), slot); };
    return {take(x_), take(y_), take(z_), take(b_), take(isotropic_), take(signal_), take(weight_), take(low_b_)};
  }

  /// Reads the number at a power, of the table of each lane's shell.
  struct coefficient_reader {
    const std::int32_t* first;
    bool one_shell;
    real operator()(const double* table, int power) const {
      return one_shell ? real(table[first[0] + power]) : lane::gather(table, first, power);
    }
  };
  coefficient_reader coefficient(int slot) const {
    return {&first_[static_cast<std::size_t>(slot) * team::lanes], one_shell_[static_cast<std::size_t>(slot)] != 0};
  }

 private:
  int count_;
  std::vector<double> x_, y_, z_, b_, isotropic_, signal_, weight_, low_b_;
  std::vector<std::int32_t> first_;
  std::vector<char> one_shell_;
};

template <int Terms, bool Dot>
class fitter final : public cpu_fitter {
 public:
  fitter(const protocol& p, const settings& s)
      : measurements_(p),
        tables_{p.shells(), p.terms, p.d_par, p.stick.data(), p.grid_coefficient.data(), p.grid_mean_square.data()},
        noise_(s.noise),
        sigma_(s.sigma),
        memory_(static_cast<std::size_t>(2 * p.shells() * p.terms + fit_coefficients::moment_numbers)) {}

  fit_result fit(const float* signals) override {
    measurements_.read(signals);
    double* const slope = memory_.data() + tables_.shells * Terms;
    const fit_coefficients own{memory_.data(), slope, slope + tables_.shells * Terms};
    return fit_voxel<Terms, Dot>(team{}, measurements_, tables_, own, noise_, sigma_, scratch_);
  }

 private:
  cpu_measurements measurements_;
  fit_tables tables_;
  noise_model noise_;
  double sigma_;
  std::vector<double> memory_;
  voxel_model::fit_scratch<team, fit_shape<Dot>::free> scratch_;
};

template <int Terms>
std::unique_ptr<cpu_fitter> make(const protocol& p, const settings& s) {
  if (s.dot) return std::make_unique<fitter<Terms, true>>(p, s);
  return std::make_unique<fitter<Terms, false>>(p, s);
}

}  // namespace

std::unique_ptr<cpu_fitter> make_cpu_fitter(const protocol& p, const settings& s) {
  return p.terms == few_terms ? make<few_terms>(p, s) : make<many_terms>(p, s);
}

}  // namespace voxherd::noddi
