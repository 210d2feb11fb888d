#include "kernels/ballstick/ballstick.hpp"

#include <stdexcept>

#include "kernels/ballstick/sampler.hpp"

namespace voxherd::ballstick {

namespace {

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

posterior::shape posterior::samples(const output_settings& in) {
  return {static_cast<std::uint64_t>(in.chain.samples())};
}

posterior::shape posterior::parameters(const output_settings& in) {
  return {static_cast<std::uint64_t>(make_parameter_layout(in.chain).count)};
}

bool posterior::has_gains(const output_settings& in) { return in.chain.gain_per_fibre.has_value(); }

posterior::shape posterior::added_fibres(const output_settings& in) {
  return {static_cast<std::uint64_t>(in.chain.fibres - 1)};
}

std::vector<output_spec> list_outputs(const output_settings& s) {
  std::vector<output_spec> specs = output_specs<posterior_outputs>(s);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::string& meaning = specs[i].meaning;
    // The fibres come first.
    if (const auto number = meaning.find('#'); number != std::string::npos)
      meaning.replace(number, 1, std::to_string(i / posterior::per_fibre + 1));
    if (specs[i].name == "acceptance") meaning += parameter_names(s.chain);
  }
  return specs;
}

std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool gradient_deviation) {
  if (s.fibres < 1 || s.fibres > max_fibres) throw std::invalid_argument("ballstick: fibres must be 1 to 4");
  if (s.sample_every < 1 || s.samples() < 1) throw std::invalid_argument("ballstick: no sample would be stored");
  if (s.adapt_every < 1) throw std::invalid_argument("ballstick: adapt_every must be at least 1");
  const auto make = [&](const settings& own) {
    const output_settings all{own, true};
    return d.kind == backend::cuda
               ? voxel_model::make_cuda_estimator(ballstick_model{}, gradients, gradient_deviation, all)
               : voxel_model::make_cpu_estimator(d, ballstick_model{}, gradients, gradient_deviation, all);
  };
  return s.gain_per_fibre ? make_gain_estimator(s, make) : make(s);
}

std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements, bool gradient_deviation) {
  if (s.gain_per_fibre) {
    std::size_t bytes = 0;
    for (int fibres = 1; fibres <= s.fibres; ++fibres) {
      settings own = settings_with_fibres(s, fibres);
      own.gain_per_fibre = std::nullopt;
      bytes += device_bytes_per_voxel(own, measurements, gradient_deviation);
    }
    return bytes;
  }
  const auto parameters = static_cast<std::size_t>(make_parameter_layout(s).rows());
  const auto samples = static_cast<std::size_t>(s.samples());
  const std::size_t results = output_bytes_per_item<posterior_outputs>({s, true});
  const std::size_t row = measurements + (gradient_deviation ? 9 : 0);
  return results + sizeof(float) * (row + measurements + 288 + parameters * (samples + 2)) + sizeof(std::uint64_t);
}

}  // namespace voxherd::ballstick
