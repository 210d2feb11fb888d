#include "kernels/ballstick/ballstick.hpp"

#include <stdexcept>

#include "kernels/ballstick/backends.hpp"

namespace voxherd::ballstick {

namespace {

void add_scalar(std::vector<field>& list, int id, const std::string& name, const std::string& unit,
                const std::string& meaning) {
  list.push_back({id, "mean_" + name, 1, false, unit, "posterior mean of " + meaning});
}

void add_samples(std::vector<field>& list, const settings& s, int id, const std::string& name, const std::string& unit,
                 const std::string& meaning) {
  list.push_back({id, name, static_cast<std::size_t>(s.samples()), true, unit, "posterior samples of " + meaning});
}

void add_fibre(std::vector<field>& list, const settings& s, int k) {
  const std::string n = std::to_string(k + 1);
  const std::string fibre = " of fibre " + n;
  list.push_back(
      {fibre_field(k, mean_f), "mean_f" + n, 1, false, "1", "posterior mean of the volume fraction" + fibre});
  list.push_back(
      {fibre_field(k, dyads), "dyads" + n, 3, false, "1",
       "mean direction" + fibre + ": principal eigenvector of the mean dyadic, image axes (FSL bvec frame)"});
  list.push_back({fibre_field(k, dispersion), "dyads" + n + "_dispersion", 1, false, "1",
                  "one less the largest eigenvalue of the mean dyadic" + fibre});
  add_samples(list, s, fibre_field(k, samples_th), "th" + n, "rad", "the polar angle from z" + fibre);
  add_samples(list, s, fibre_field(k, samples_ph), "ph" + n, "rad", "the azimuth from x" + fibre);
  add_samples(list, s, fibre_field(k, samples_f), "f" + n, "1", "the volume fraction" + fibre);
}

std::string parameter_names(const settings& s) {
  const parameter_layout l = layout_of(s);
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

std::vector<field> fields_of(const settings& s, bool all_samples) {
  struct scalar {
    int place, mean_id, samples_id;
    const char *name, *unit, *meaning;
  };
  const parameter_layout l = layout_of(s);
  const scalar scalars[] = {
      {l.s0, mean_s0, samples_s0, "S0", "signal", "the signal without diffusion weighting"},
      {l.d, mean_d, samples_d, "d", "mm2/s", "the diffusivity"},
      {l.d_std, mean_d_std, samples_d_std, "d_std", "mm2/s", "the standard deviation of the diffusivity"},
      {l.ratio, mean_ratio, samples_ratio, "R", "1", "the ratio of perpendicular to parallel diffusivity"},
      {l.f0, mean_f0, samples_f0, "f0", "1", "the unattenuated volume fraction"},
      {l.tau, mean_tau, samples_tau, "tau", "1/signal^2", "the noise precision"},
  };
  std::vector<field> list;
  for (int k = 0; k < s.fibres; ++k) add_fibre(list, s, k);
  list.push_back({mean_f_sum, "mean_fsum", 1, false, "1", "sum of the fibres' mean volume fractions"});
  for (const scalar& p : scalars) {
    if (p.place < 0) continue;
    add_scalar(list, p.mean_id, p.name, p.unit, p.meaning);
    if (all_samples) add_samples(list, s, p.samples_id, p.name, p.unit, p.meaning);
  }
  list.push_back({acceptance, "acceptance", static_cast<std::size_t>(l.count), false, "1",
                  "share of accepted jumps of " + parameter_names(s)});
  return list;
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
  const auto parameters = static_cast<std::size_t>(layout_of(s).count);
  const auto samples = static_cast<std::size_t>(s.samples());
  std::size_t results = 1;
  for (const field& f : fields_of(s, true)) results += f.width * sizeof(float);
  const std::size_t row = measurements + (gradient_deviation ? 9 : 0);
  return results + sizeof(float) * (row + measurements + 288 + parameters * (samples + 2)) + sizeof(std::uint64_t);
}

}  // namespace voxherd::ballstick
