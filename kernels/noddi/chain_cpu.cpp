#include "kernels/noddi/noddi_cpu.hpp"

#include "kernels/portable/cpu_team.hpp"

namespace voxherd::noddi {

namespace {

using team = cpu_team<float>;
using real = team::real;

/// Measurements of one voxel, padded to complete SIMD registers.
class cpu_measurements {
 public:
  explicit cpu_measurements(const protocol& p) {
    const auto lanes = static_cast<std::size_t>(team::lanes);
    const std::size_t k = p.measurements(), padded = (k + lanes - 1) / lanes * lanes;
    constexpr double log2_e = 1.4426950408889634;
    for (std::size_t i = 0; i < padded; ++i) {
      const bool inside = i < k;
      x_.push_back(inside ? static_cast<float>(p.x[i]) : 0);
      y_.push_back(inside ? static_cast<float>(p.y[i]) : 0);
      z_.push_back(inside ? static_cast<float>(p.z[i]) : 0);
      weighting_.push_back(inside ? static_cast<float>(p.b[i] * p.d_par * log2_e) : padding_weighting);
      isotropic_.push_back(inside ? static_cast<float>(p.isotropic[i]) : 0);
      is_measured_.push_back(inside ? 1.0f : 0.0f);
      first_.push_back((inside ? p.shell[i] : p.shells()) * p.terms);
    }
    for (std::size_t i = 0; i < padded; i += lanes) one_shell_.push_back(first_[i] == first_[i + lanes - 1]);
    signal_.resize(padded, 0.0f);
  }

  void read(const float* signals, int count) { std::copy_n(signals, count, signal_.begin()); }

  int slots() const { return static_cast<int>(one_shell_.size()); }
  real signal(int s) const { return take(signal_, s); }
  real is_measured(int s) const { return take(is_measured_, s); }
  chain_measurement<real> load(int s) const {
    return {take(x_, s), take(y_, s), take(z_, s), take(weighting_, s), take(isotropic_, s)};
  }

  struct coefficient_reader {
    const std::int32_t* first;
    bool one_shell;
    real operator()(const float* row, int power) const {
      return one_shell ? real(row[first[0] + power]) : lane::gather(row, first, power);
    }
  };
  coefficient_reader coefficient(int s) const {
    return {&first_[static_cast<std::size_t>(s) * team::lanes], one_shell_[static_cast<std::size_t>(s)] != 0};
  }

 private:
  static real take(const std::vector<float>& column, int slot) { return team{}.load(column.data(), slot); }

  std::vector<float> x_, y_, z_, weighting_, isotropic_, is_measured_, signal_;
  std::vector<std::int32_t> first_;
  std::vector<char> one_shell_;
};

template <class Noise, int Terms>
class sampled_chain final : public cpu_chain {
  using array = memory_array<real>;
  using scratch = voxel_model::chain_scratch<max_parameters>;
  using steps = sampler<team, cpu_measurements, array, Noise, Terms>;

 public:
  sampled_chain(const protocol& p, const std::vector<float>& table, const settings& s)
      : settings_(make_chain_settings(p, s, table.data())),
        measurements_(p),
        arrays_(static_cast<std::size_t>(4 * measurements_.slots())),
        rows_(static_cast<std::size_t>(2 * settings_.row_numbers)) {}

  void run(const float* signals, const float* start, std::uint64_t voxel, chain_record& record) override {
    measurements_.read(signals, settings_.measurements);
    real* const first = arrays_.data();
    const int n = measurements_.slots();
    const signal_arrays<array> arrays{{first}, {first + n}, {first + 2 * n}, {first + 3 * n}};
    const team one;
    steps sampler(one, measurements_, settings_, arrays, rows_.data(), scratch_, start);
    voxel_model::chain<team, steps, scratch>(one, settings_.lengths, scratch_, sampler)
        .run(voxel, record.samples.data(), record.acceptance, true);
  }

 private:
  chain_settings settings_;
  cpu_measurements measurements_;
  std::vector<real> arrays_;
  std::vector<float> rows_;
  scratch scratch_;
};

template <class Noise>
std::unique_ptr<cpu_chain> make(const protocol& p, const std::vector<float>& table, const settings& s) {
  if (p.terms == few_terms) return std::make_unique<sampled_chain<Noise, few_terms>>(p, table, s);
  return std::make_unique<sampled_chain<Noise, many_terms>>(p, table, s);
}

}  // namespace

std::unique_ptr<cpu_chain> make_cpu_chain(const protocol& p, const std::vector<float>& table, const settings& s) {
  return s.noise == noise_model::rician ? make<voxel_model::rician_noise>(p, table, s)
                                        : make<voxel_model::gaussian_noise>(p, table, s);
}

}  // namespace voxherd::noddi
