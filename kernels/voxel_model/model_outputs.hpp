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
bool is_never(const settings& s);
std::vector<std::uint64_t> samples_shape(const settings& s);

template <class Model>
inline constexpr std::size_t derived_count = 0;
template <directional Model>
inline constexpr std::size_t derived_count<Model> = std::size(Model::derived);
template <class Model>
inline constexpr std::size_t axis_count = 0;
template <directional Model>
inline constexpr std::size_t axis_count<Model> = std::size(Model::axes);

/// NAME, NAME_SD and NAME_samples of each parameter, then of S0, derived values and axes.
template <class Model>
struct output_names {
  static constexpr std::size_t count = static_cast<std::size_t>(parameter_count<Model>) + 1, longest = 64;
  static constexpr std::size_t all = count + derived_count<Model> + axis_count<Model>;
  char own[all][longest] = {}, sd[all][longest] = {}, samples[all][longest] = {}, dispersion[all][longest] = {};

  constexpr output_names() {
    for (std::size_t i = 0; i < all; ++i) {
      std::string_view name = "S0";
      if (i + 1 < count) name = Model::parameters[i].name;
      if constexpr (directional<Model>) {
        if (i >= count)
          name = i < count + derived_count<Model> ? Model::derived[i - count].name
                                                  : Model::axes[i - count - derived_count<Model>].name;
      }
      write(own[i], name, "");
      write(sd[i], name, "_SD");
      write(samples[i], name, "_samples");
      write(dispersion[i], name, "_dispersion");
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
  static constexpr std::size_t values = output_names<Model>::count, derived_count = voxel_model::derived_count<Model>,
                               axis_count = voxel_model::axis_count<Model>,
                               angles = static_cast<std::size_t>(turn_count<Model>);
  /// Places in the table: each value, what noise and residuals are, then standard deviations and samples of each value.
  static constexpr std::size_t first_derived = values, first_axis = first_derived + derived_count,
                               sigma = first_axis + axis_count, residual = sigma + 1, first_sd = sigma + 2,
                               first_derived_sd = first_sd + values,
                               first_dispersion = first_derived_sd + derived_count,
                               sigma_sd = first_dispersion + axis_count, first_samples = sigma_sd + 1,
                               first_derived_samples = first_samples + values,
                               first_angle_samples = first_derived_samples + derived_count,
                               acceptance = first_angle_samples + angles, status = acceptance + 1;

  static constexpr auto make_table() {
    using entry = step_output<settings>;
    std::array<entry, status + 1> t{};
    using conditions = entry::dependence;
    const auto put_map = [&](std::size_t i, const char* name, const char* unit, const char* meaning,
                             bool (*when)(const settings&), std::size_t width = 1) {
      const conditions on{.layout = output_layout::volume, .when = when};
      t[i] = entry{name, element_type::float32, width, unit, meaning, on};
    };
    const conditions rows{.shape = samples_shape, .when = is_sampled};
    for (std::size_t i = 0; i < values; ++i) {
      const char *unit = "signal", *meaning = "signal without diffusion weighting";
      if (i + 1 < values) unit = Model::parameters[i].unit, meaning = Model::parameters[i].meaning;
      put_map(i, names.own[i], unit, meaning, nullptr);
      put_map(first_sd + i, names.sd[i], unit, "posterior standard deviation", is_sampled);
      t[first_samples + i] = entry{names.samples[i], element_type::float32, 0, unit, "posterior samples", rows};
    }
    if constexpr (directional<Model>) {
      for (std::size_t i = 0; i < derived_count; ++i) {
        const derived_value& v = Model::derived[i];
        const auto when = v.has_samples ? is_sampled : is_never;
        const conditions sampled_rows{.shape = samples_shape, .when = when};
        put_map(first_derived + i, v.name, v.unit, v.meaning, nullptr);
        put_map(first_derived_sd + i, names.sd[values + i], v.unit, "posterior standard deviation", when);
        t[first_derived_samples + i] =
            entry{names.samples[values + i], element_type::float32, 0, v.unit, "posterior samples", sampled_rows};
      }
      for (std::size_t i = 0; i < axis_count; ++i) {
        put_map(first_axis + i, Model::axes[i].name, "1", Model::axes[i].meaning, nullptr, 3);
        put_map(first_dispersion + i, names.dispersion[values + derived_count + i], "1",
                "one less the largest eigenvalue of the samples' mean dyadic", is_sampled);
      }
      const auto put_angle = [&](std::size_t i, const char* name, const char* meaning) {
        t[first_angle_samples + i] = entry{name, element_type::float32, 0, "rad", meaning, rows};
      };
      put_angle(0, "th_samples", "posterior samples of the direction's polar angle from z");
      put_angle(1, "ph_samples", "posterior samples of the direction's azimuth from x");
      if constexpr (angles > 2)
        put_angle(2, "psi_samples", "posterior samples of the turn about the direction, from where its azimuth grows");
    }
    put_map(sigma, "sigma", "signal", "standard deviation of the Rician noise (--noise rician)", has_sigma);
    put_map(residual, "residual", "signal", "root mean square of signal minus best fit", nullptr);
    put_map(sigma_sd, "sigma_SD", "signal", "posterior standard deviation", has_sigma_samples);
    put_map(acceptance, "acceptance", "1",
            angles == 3
                ? "fraction of accepted jumps of each parameter, of S0, th, ph, psi and, where it is sampled, of tau"
            : angles == 2
                ? "fraction of accepted jumps of each parameter, of S0, th, ph and, where it is sampled, of tau"
                : "fraction of accepted jumps of each parameter, of S0 and, where it is sampled, of tau",
            is_sampled, values + angles + 1);
    put_map(status, "status", "code", "0 fitted; other codes: reason why not (docs/commands/README.md)", nullptr);
    t[status].type = element_type::uint8;
    return t;
  }
  static constexpr auto table = make_table();
};

}  // namespace voxherd::voxel_model
