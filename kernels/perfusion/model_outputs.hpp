#pragma once

#include <string_view>

#include "kernels/perfusion/tissue_model.hpp"
#include "kernels/portable/output_arrays.hpp"

namespace voxherd::perfusion {

/// Texts of a model's outputs that contain names of its parameters.
template <class Tissue>
struct output_texts {
  static constexpr std::size_t count = static_cast<std::size_t>(parameter_count<Tissue>), longest = 160;
  /// A struct, since nvcc miscounts arrays of arrays in constant expressions.
  struct text {
    char of[longest] = {};
  };
  text sd[count], sd_meaning[count], bits;

  constexpr output_texts() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = Tissue::parameters[i].name;
      write(sd[i].of, {"sd_", name});
      write(sd_meaning[i].of, {"standard deviation of ", name,
                               i == 0 ? std::string_view(" from the Jacobian; 0: fixed or at a bound") : ""});
      const char number[] = {static_cast<char>('0' + i), 0};
      at = append(bits.of, at, {i == 0 ? "bit " : ", ", number, " ", name});
    }
    append(bits.of, at, {": ended at one of its bounds"});
  }

 private:
  /// Writes the parts from `at` on; returns their end.
  static constexpr std::size_t append(char (&to)[longest], std::size_t at,
                                      std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts)
      for (const char c : part) to[at++] = c;
    return at;
  }
  static constexpr void write(char (&to)[longest], std::initializer_list<std::string_view> parts) {
    append(to, 0, parts);
  }
};

/// Outputs of a model's fit; all but `status` are zero where that is not `fitted`.
template <class Tissue>
struct model_outputs {
  static constexpr output_texts<Tissue> texts{};
  static constexpr std::size_t parameters = output_texts<Tissue>::count, derived = std::size(Tissue::derived);
  static constexpr output common[] = {
      // its unit is the squared one of the concentration
      {"sum_of_squares", element_type::float32, 1, "", "sum of squared residuals over the frames that are fitted"},
      {"r_squared", element_type::float32, 1, "1", "part of the curve's variance that the model explains"},
      {"t1_before", element_type::float32, 1, "s", "T1 before the agent"},
      {"baseline_signal", element_type::float32, 1, "input", "mean signal of the baseline frames, S0"},
      {"iterations", element_type::uint32, 1, "1", "number of iterations of the solver, from the best start"},
      {"exit_code", element_type::uint8, 1, "code", "0 converged, 1 largest number of iterations, 2 no descent"},
      {"at_bound", element_type::uint8, 1, "bits", texts.bits.of},
      {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)"},
  };
  /// Places in the table. Maps, from which a user may choose, are the outputs before `iterations`.
  static constexpr std::size_t first_sd = parameters, first_derived = 2 * parameters,
                               first_common = first_derived + derived, maps = first_common + 4;

  static constexpr auto make_table() {
    static_assert(parameters <= 8, "at_bound has one bit for each parameter");
    std::array<output, first_common + std::size(common)> t{};
    for (std::size_t i = 0; i < parameters; ++i) {
      const parameter& p = Tissue::parameters[i];
      t[i] = {p.name, element_type::float32, 1, p.unit().name, p.meaning};
      t[first_sd + i] = {texts.sd[i].of, element_type::float32, 1, p.unit().name, texts.sd_meaning[i].of};
    }
    for (std::size_t i = 0; i < derived; ++i) {
      const derived_value& d = Tissue::derived[i];
      t[first_derived + i] = {d.name, element_type::float32, 1, unit_of(d.what).name, d.meaning};
    }
    for (std::size_t i = 0; i < std::size(common); ++i) t[first_common + i] = common[i];
    return t;
  }
  static constexpr auto table = make_table();
  static_assert(std::string_view(table[maps].name) == "iterations");
};

template <class Tissue>
using output_arrays_of = output_arrays<model_outputs<Tissue>>;

}  // namespace voxherd::perfusion
