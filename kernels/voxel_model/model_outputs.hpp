#pragma once

#include <array>
#include <string_view>

#include "core/step_outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/settings.hpp"

namespace voxherd::voxel_model {

// When outputs exist.
bool has_sigma(const settings& s);
bool is_sampled(const settings& s);
bool has_sigma_samples(const settings& s);
std::vector<std::uint64_t> samples_shape(const settings& s);

/// NAME, NAME_SD and NAME_samples of each parameter, then of S0.
template <class Model>
struct output_names {
  static constexpr std::size_t count = static_cast<std::size_t>(parameter_count<Model>) + 1, longest = 64;
  char own[count][longest] = {}, sd[count][longest] = {}, samples[count][longest] = {};

  constexpr output_names() {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = i + 1 < count ? std::string_view(Model::parameters[i].name) : "S0";
      write(own[i], name, "");
      write(sd[i], name, "_SD");
      write(samples[i], name, "_samples");
    }
  }

 private:
  static constexpr void write(char (&to)[longest], std::string_view first, std::string_view second) {
    std::size_t at = 0;
    for (const char c : first) to[at++] = c;
    for (const char c : second) to[at++] = c;
  }
};

/// Outputs of a model: the best fit or, of a sampled run, posterior means. All but `status` are zero where that is not
/// `fitted`.
template <class Model>
struct model_outputs {
  using inputs = settings;
  static constexpr output_names<Model> names{};
  static constexpr std::size_t values = output_names<Model>::count;
  /// Places in the table: each value, what noise and residuals are, then standard deviations and samples of each value.
  static constexpr std::size_t sigma = values, residual = values + 1, first_sd = values + 2, sigma_sd = 2 * values + 2,
                               first_samples = 2 * values + 3, acceptance = 3 * values + 3, status = 3 * values + 4;

  static constexpr auto make_table() {
    using entry = step_output<settings>;
    std::array<entry, status + 1> t{};
    using conditions = entry::dependence;
    const auto put_map = [&](std::size_t i, const char* name, const char* unit, const char* meaning,
                             bool (*when)(const settings&), std::size_t width = 1) {
      const conditions on{.layout = output_layout::volume, .when = when};
      t[i] = entry{name, element_type::float32, width, unit, meaning, on};
    };
    for (std::size_t i = 0; i < values; ++i) {
      const char *unit = "signal", *meaning = "signal without diffusion weighting";
      if (i + 1 < values) unit = Model::parameters[i].unit, meaning = Model::parameters[i].meaning;
      put_map(i, names.own[i], unit, meaning, nullptr);
      put_map(first_sd + i, names.sd[i], unit, "posterior standard deviation", is_sampled);
      const conditions rows{.shape = samples_shape, .when = is_sampled};
      t[first_samples + i] = entry{names.samples[i], element_type::float32, 0, unit, "posterior samples", rows};
    }
    put_map(sigma, "sigma", "signal", "standard deviation of the Rician noise (--noise rician)", has_sigma);
    put_map(residual, "residual", "signal", "root mean square of signal minus best fit", nullptr);
    put_map(sigma_sd, "sigma_SD", "signal", "posterior standard deviation", has_sigma_samples);
    put_map(acceptance, "acceptance", "1",
            "fraction of accepted jumps of each parameter, of S0 and, where it is sampled, of tau", is_sampled,
            values + 1);
    put_map(status, "status", "code", "0 fitted; other codes: reason why not (docs/commands/README.md)", nullptr);
    t[status].type = element_type::uint8;
    return t;
  }
  static constexpr auto table = make_table();
};

}  // namespace voxherd::voxel_model
