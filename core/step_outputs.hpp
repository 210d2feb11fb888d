#pragma once

#include <string>
#include <vector>

#include "core/outputs.hpp"

namespace voxherd {

/// In a list of the items' voxels: the item has none, such as a group of streamlines or a bootstrap replicate.
inline constexpr std::uint64_t no_voxel = ~std::uint64_t{0};

/// The outputs of one table, then those of another.
template <std::size_t First, std::size_t Second>
constexpr std::array<output, First + Second> joined(const output (&first)[First], const output (&second)[Second]) {
  std::array<output, First + Second> all{};
  for (std::size_t i = 0; i < First; ++i) all[i] = first[i];
  for (std::size_t i = 0; i < Second; ++i) all[First + i] = second[i];
  return all;
}

/// One quantity of every item of a step, whose existence, shape or unit may depend on the step's inputs. A step
/// declares its outputs once, in a table: a type with the type of its inputs and a constant array of these,
///   struct group_outputs {
///     using inputs = track_inputs;
///     static constexpr step_output<inputs> table[] = {{"length", element_type::uint64, 0, "steps", "...",
///                                                      {.shape = places, .when = has_lengths}}, ...};
///   };
template <class Inputs>
struct step_output {
  struct dependence {
    output_layout layout = output_layout::items;
    std::vector<std::uint64_t> (*shape)(const Inputs&) = nullptr;  ///< the shape of one item, if `width` is 0
    bool (*when)(const Inputs&) = nullptr;                         ///< whether it exists; null: always
    std::string (*unit)(const Inputs&) = nullptr;                  ///< instead of the table's
  };

  const char* name;
  element_type type;
  std::size_t width;  ///< values per item; 0: as `shape` says
  const char* unit;
  const char* meaning;
  dependence on = {};

  /// The least that an item takes; a shape may have more than one value.
  constexpr std::size_t bytes_per_item() const { return (width > 0 ? width : 1) * element_bytes(type); }
  output_spec spec(const Inputs& in) const {
    std::vector<std::uint64_t> extents;
    if (on.shape != nullptr) extents = on.shape(in);
    if (width > 1) extents = {width};
    return {name, type, extents, on.layout, on.unit != nullptr ? on.unit(in) : unit, meaning};
  }
};

/// The outputs that exist for these inputs.
template <class Outputs>
output_choice<Outputs> chosen_outputs(const typename Outputs::inputs& in) {
  output_choice<Outputs> chosen;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto when = Outputs::table[i].on.when;
    chosen[i] = when == nullptr || when(in);
  }
  return chosen;
}

/// Their description, in the table's order.
template <class Outputs>
std::vector<output_spec> output_specs(const typename Outputs::inputs& in) {
  const output_choice<Outputs> chosen = chosen_outputs<Outputs>(in);
  std::vector<output_spec> specs;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) specs.push_back(Outputs::table[i].spec(in));
  return specs;
}

/// Bytes per item of each output of the table, also of those that do not exist for these inputs.
template <class Outputs>
std::array<std::size_t, output_count<Outputs>> output_widths(const typename Outputs::inputs& in) {
  std::array<std::size_t, output_count<Outputs>> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = Outputs::table[i].spec(in).bytes_per_item();
  return bytes;
}

template <class Outputs>
std::size_t output_bytes_per_item(const typename Outputs::inputs& in) {
  std::size_t bytes = 0;
  for (const output_spec& o : output_specs<Outputs>(in)) bytes += o.bytes_per_item();
  return bytes;
}

}  // namespace voxherd
