#include <optional>

#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/shell_steps.hpp"
#include "kernels/noddi/watson_model.hpp"
#include "kernels/voxel_model/model_cpu.hpp"

namespace voxherd::noddi {

namespace {

/// Columns of the protocol's measurements, padded to complete SIMD registers. `Number`: of the fit or the chain.
template <class Number>
class shell_columns {
 public:
  using team = cpu_team<Number>;
  using real = typename team::real;

  int slots() const { return static_cast<int>(one_shell_.size()); }

  /// Reads the number at a power, of the table of each lane's shell.
  struct coefficient_reader {
    const std::int32_t* first;
    bool one_shell;
    VOXHERD_INLINED real operator()(const Number* table, int power) const {
      return one_shell ? real(table[first[0] + power]) : lane::gather(table, first, power);
    }
  };
  coefficient_reader coefficient(int slot) const {
    return {&first_[static_cast<std::size_t>(slot) * team::lanes], one_shell_[static_cast<std::size_t>(slot)] != 0};
  }

 protected:
  /// `padding`: index of the shell of the padding.
  shell_columns(const protocol& p, int padding)
      : padded_((p.measurements() + team::lanes - 1) / team::lanes * team::lanes) {
    std::vector<std::int32_t> shell = p.shell;
    shell.resize(padded_, padding);
    for (const std::int32_t s : shell) first_.push_back(s * p.terms);
    for (std::size_t i = 0; i < padded_; i += team::lanes)
      one_shell_.push_back(first_[i] == first_[i + team::lanes - 1]);  // in the order of b-values
    x_ = column(p.x), y_ = column(p.y), z_ = column(p.z), isotropic_ = column(p.isotropic);
    is_measured_ = column(std::vector<double>(p.measurements(), 1.0));
  }

  std::vector<Number> column(const std::vector<double>& from, double padding = 0) const {
    std::vector<Number> to(from.begin(), from.end());
    to.resize(padded_, static_cast<Number>(padding));
    return to;
  }
  static real take(const std::vector<Number>& column, int slot) { return team{}.load(column.data(), slot); }

  std::size_t padded_;
  std::vector<Number> x_, y_, z_, isotropic_, is_measured_;

 private:
  std::vector<std::int32_t> first_;
  std::vector<char> one_shell_;
};

class fit_measurements : public shell_columns<double> {
 public:
  explicit fit_measurements(const protocol& p)
      : shell_columns(p, p.shell.back()), count_(static_cast<int>(p.measurements())), signal_(padded_, 0.0) {
    b_ = column(p.b);
    low_b_ = column(std::vector<double>(p.low_b.begin(), p.low_b.end()));
  }

  void read(const float* signals) { std::copy_n(signals, count_, signal_.begin()); }
  int count() const { return count_; }
  VOXHERD_INLINED measurement<real> load(int s) const {
    return {take(x_, s),         take(y_, s),      take(z_, s),           take(b_, s),
            take(isotropic_, s), take(signal_, s), take(is_measured_, s), take(low_b_, s)};
  }

 private:
  int count_;
  std::vector<double> b_, low_b_, signal_;
};

class chain_measurements : public shell_columns<float> {
 public:
  explicit chain_measurements(const protocol& p) : shell_columns(p, p.shells()) {
    constexpr double log2_e = 1.4426950408889634;
    std::vector<double> weighting = p.b;
    for (double& w : weighting) w = w * p.d_par * log2_e;
    weighting_ = column(weighting, static_cast<double>(padding_weighting));
  }

  void read(const float* signals) { signals_ = signals; }
  real signal(int s) const { return team{}.load(signals_, s); }
  real is_measured(int s) const { return take(is_measured_, s); }
  VOXHERD_INLINED chain_measurement<real> load(int s) const {
    return {take(x_, s), take(y_, s), take(z_, s), take(weighting_, s), take(isotropic_, s)};
  }

 private:
  std::vector<float> weighting_;
  const float* signals_ = nullptr;
};

/// One thread's memory for the chain of one voxel at a time.
template <int Terms>
class shell_chain {
  using team = cpu_team<float>;
  using array = memory_array<team::real>;
  using scratch = voxel_model::chain_scratch<max_parameters>;

 public:
  shell_chain(const protocol& p, const chain_settings& s)
      : settings_(s),
        measurements_(p),
        arrays_(static_cast<std::size_t>(4 * measurements_.slots())),
        rows_(static_cast<std::size_t>(2 * s.row_numbers)) {}

  template <class Noise>
  void run(const float* signals, std::uint64_t voxel, const float* start, float* samples, float* acceptance) {
    using steps = sampler<team, chain_measurements, array, Noise, Terms>;
    measurements_.read(signals);
    team::real* const first = arrays_.data();
    const int n = measurements_.slots();
    const signal_arrays<array> arrays{{first}, {first + n}, {first + 2 * n}, {first + 3 * n}};
    const team one;
    steps own(one, measurements_, settings_, arrays, rows_.data(), scratch_, start);
    voxel_model::chain<team, steps, scratch>(one, settings_.lengths, scratch_, own)
        .run(voxel, samples, acceptance, true);
  }

 private:
  chain_settings settings_;
  chain_measurements measurements_;
  std::vector<team::real> arrays_;
  std::vector<float> rows_;
  scratch scratch_;
};

/// Fits and chains with tables of the signal by b-value.
template <class Model, int Terms>
class shell_stages : public voxel_model::cpu_model_base<Model> {
  using base = voxel_model::cpu_model_base<Model>;
  using base::run_;
  static constexpr bool dot = has_dot<Model>;

 public:
  using outputs = typename base::outputs;

  shell_stages(const Model& model, const gradient_table& gradients, const voxel_model::settings& s, const protocol& p)
      : base(model, gradients, false, s), protocol_(p) {
    base::sizes_.order = protocol_.order.data();
    if (s.samples > 0) table_ = protocol_.chain_table();
  }

  class worker {
   public:
    explicit worker(const shell_stages& stages)
        : run_(stages.run_),
          tables_{stages.protocol_.shells(),
                  Terms,
                  stages.protocol_.d_par,
                  stages.protocol_.stick.data(),
                  stages.protocol_.grid_coefficient.data(),
                  stages.protocol_.grid_mean_square.data()},
          measurements_(stages.protocol_),
          coefficients_(static_cast<std::size_t>(2 * tables_.shells * Terms + fit_coefficients::moment_numbers)) {
      if (run_.samples > 0)
        chain_.emplace(stages.protocol_, make_chain_settings(stages.protocol_, run_, stages.table_.data()));
    }

    void fit(const float* signals, const float* /*deviation*/, float* start, std::size_t item,
             const output_arrays<outputs>& out) {
      measurements_.read(signals);
      signals_ = signals;
      double* const slope = coefficients_.data() + tables_.shells * Terms;
      const fit_coefficients own{coefficients_.data(), slope, slope + tables_.shells * Terms};
      const auto best =
          fit_voxel<Terms, dot>(cpu_team<double>{}, measurements_, tables_, own, run_.noise, run_.sigma, scratch_);
      voxel_model::detail::store(run_, best, start, item, out);
    }

    void sample(std::uint64_t voxel, const float* start, float* samples, float* acceptance) {
      if (run_.noise == noise_model::rician)
        chain_->template run<voxel_model::rician_noise>(signals_, voxel, start, samples, acceptance);
      else
        chain_->template run<voxel_model::gaussian_noise>(signals_, voxel, start, samples, acceptance);
    }

   private:
    const voxel_model::model_run<Model>& run_;
    fit_tables tables_;
    fit_measurements measurements_;
    const float* signals_ = nullptr;
    std::vector<double> coefficients_;
    voxel_model::fit_scratch<cpu_team<double>, fit_shape<dot>::free> scratch_;
    std::optional<shell_chain<Terms>> chain_;
  };

 private:
  protocol protocol_;
  std::vector<float> table_;
};

template <class Model>
voxel_model::estimator_of<Model> make_estimator(const device& d, const Model& m, const gradient_table& g, bool deviates,
                                                const voxel_model::settings& s) {
  using namespace voxel_model;
  if (deviates) return std::make_unique<cpu_estimator<cpu_model_stages<Model>>>(d, m, g, true, s);
  const protocol p(g, m.diffusivities());
  if (p.terms == few_terms) return std::make_unique<cpu_estimator<shell_stages<Model, few_terms>>>(d, m, g, s, p);
  return std::make_unique<cpu_estimator<shell_stages<Model, many_terms>>>(d, m, g, s, p);
}

}  // namespace

}  // namespace voxherd::noddi

template std::vector<voxherd::output_spec> voxherd::voxel_model::list_outputs<voxherd::watson_model>(const settings&);
template std::size_t voxherd::voxel_model::device_bytes_per_voxel<voxherd::watson_model>(const settings&, std::size_t,
                                                                                         bool);

template std::vector<voxherd::output_spec> voxherd::voxel_model::list_outputs<voxherd::watson_dot_model>(
    const settings&);
template std::size_t voxherd::voxel_model::device_bytes_per_voxel<voxherd::watson_dot_model>(const settings&,
                                                                                             std::size_t, bool);

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_model> voxherd::voxel_model::make_cpu_estimator(
    const device& d, const watson_model& m, const gradient_table& g, bool deviates, const settings& s) {
  return noddi::make_estimator(d, m, g, deviates, s);
}

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_dot_model> voxherd::voxel_model::make_cpu_estimator(
    const device& d, const watson_dot_model& m, const gradient_table& g, bool deviates, const settings& s) {
  return noddi::make_estimator(d, m, g, deviates, s);
}
