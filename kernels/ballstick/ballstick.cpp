#include "kernels/ballstick/ballstick.hpp"

#include <stdexcept>

#include "kernels/ballstick/backends.hpp"

namespace voxherd::ballstick {

namespace {

/// Builds the list of a run's outputs.
class output_list {
 public:
  explicit output_list(const settings& s) : settings_(s) {}

  void add(int id, const std::string& name, const std::string& unit, const std::string& meaning,
           output_layout layout = output_layout::volume) {
    const int width = values_per_voxel(id, make_parameter_layout(settings_), settings_.samples());
    output_spec spec{name, element_type::float32, {}, layout, unit, meaning};
    if (id == status_field) spec.type = element_type::uint8;
    if (width > 1 || layout == output_layout::items) spec.shape.push_back(static_cast<std::uint64_t>(width));
    list.push_back({id, spec});
  }
  void add_mean(int id, const std::string& name, const std::string& unit, const std::string& meaning) {
    add(id, "mean_" + name, unit, "posterior mean of " + meaning);
  }
  void add_samples(int id, const std::string& name, const std::string& unit, const std::string& meaning) {
    add(id, name, unit, "posterior samples of " + meaning, output_layout::items);
  }
  void add_fibre(int k) {
    const std::string n = std::to_string(k + 1), fibre = " of fibre " + n;
    add_mean(fibre_field(k, mean_f), "f" + n, "1", "the volume fraction" + fibre);
    add(fibre_field(k, dyads), "dyads" + n, "1",
        "mean direction" + fibre + ": principal eigenvector of the mean dyadic, image axes (FSL bvec frame)");
    add(fibre_field(k, dispersion), "dyads" + n + "_dispersion", "1",
        "one less the largest eigenvalue of the mean dyadic" + fibre);
    add_samples(fibre_field(k, samples_th), "th" + n, "rad", "the polar angle from z" + fibre);
    add_samples(fibre_field(k, samples_ph), "ph" + n, "rad", "the azimuth from x" + fibre);
    add_samples(fibre_field(k, samples_f), "f" + n, "1", "the volume fraction" + fibre);
  }

  std::vector<field> list;

 private:
  const settings& settings_;
};

std::string parameter_names(const settings& s) {
  const parameter_layout l = make_parameter_layout(s);
  std::vector<std::string> names(static_cast<std::size_t>(l.count));
  const auto set = [&](int p, const std::string& name) {
    if (p >= 0) names[static_cast<std::size_t>(p)] = name;
  };
  set(l.s0, "S0"), set(l.d, "d"), set(l.d_std, "d_std"), set(l.ratio, "R"), set(l.tau, "tau"), set(l.f0, "f0");
  for (int k = 0; k < s.fibres; ++k) {
    const std::string n = std::to_string(k + 1);
    set(l.th(k), "th" + n), set(l.ph(k), "ph" + n), set(l.f(k), "f" + n);
  }
  std::string joined;
  for (const auto& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

}  // namespace

std::vector<field> list_outputs(const settings& s, bool all_samples) {
  struct scalar {
    int place, mean_id, samples_id;
    const char *name, *unit, *meaning;
  };
  const parameter_layout l = make_parameter_layout(s);
  const scalar scalars[] = {
      {l.s0, mean_s0, samples_s0, "S0", "signal", "the signal without diffusion weighting"},
      {l.d, mean_d, samples_d, "d", "mm2/s", "the diffusivity"},
      {l.d_std, mean_d_std, samples_d_std, "d_std", "mm2/s", "the standard deviation of the diffusivity"},
      {l.ratio, mean_ratio, samples_ratio, "R", "1", "the ratio of perpendicular to parallel diffusivity"},
      {l.f0, mean_f0, samples_f0, "f0", "1", "the unattenuated volume fraction"},
      {l.tau, mean_tau, samples_tau, "tau", "1/signal^2", "the noise precision"},
  };
  output_list outputs(s);
  for (int k = 0; k < s.fibres; ++k) outputs.add_fibre(k);
  outputs.add(mean_f_sum, "mean_fsum", "1", "sum of the fibres' mean volume fractions");
  for (const scalar& p : scalars) {
    if (p.place < 0) continue;
    outputs.add_mean(p.mean_id, p.name, p.unit, p.meaning);
    if (all_samples) outputs.add_samples(p.samples_id, p.name, p.unit, p.meaning);
  }
  outputs.add(acceptance, "acceptance", "1", "share of accepted jumps of " + parameter_names(s));
  outputs.add(status_field, "status", "code", "0 fitted; else why not (voxel_status)");
  return outputs.list;
}

std::array<std::size_t, field_count> field_widths(const settings& s) {
  std::array<std::size_t, field_count> bytes{};
  for (int id = 0; id < field_count; ++id)
    bytes[static_cast<std::size_t>(id)] =
        static_cast<std::size_t>(values_per_voxel(id, make_parameter_layout(s), s.samples())) *
        (id == status_field ? sizeof(std::uint8_t) : sizeof(float));
  return bytes;
}

std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool gradient_deviation) {
  if (s.fibres < 1 || s.fibres > max_fibres) throw std::invalid_argument("ballstick: fibres must be 1 to 4");
  if (s.sample_every < 1 || s.samples() < 1) throw std::invalid_argument("ballstick: no sample would be stored");
  if (s.adapt_every < 1) throw std::invalid_argument("ballstick: adapt_every must be at least 1");
  return d.kind == backend::cuda ? make_cuda_estimator(d, gradients, s, gradient_deviation)
                                 : make_cpu_estimator(d, gradients, s, gradient_deviation);
}

std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements, bool gradient_deviation) {
  const auto parameters = static_cast<std::size_t>(make_parameter_layout(s).count);
  const auto samples = static_cast<std::size_t>(s.samples());
  std::size_t results = 0;
  for (const field& f : list_outputs(s, true)) results += f.spec.bytes_per_item();
  const std::size_t row = measurements + (gradient_deviation ? 9 : 0);
  return results + sizeof(float) * (row + measurements + 288 + parameters * (samples + 2)) + sizeof(std::uint64_t);
}

}  // namespace voxherd::ballstick
