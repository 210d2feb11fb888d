#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace voxherd {

enum class element_type { uint8, int32, uint32, uint64, float32, float64 };
inline constexpr std::array element_types{element_type::uint8,  element_type::int32,   element_type::uint32,
                                          element_type::uint64, element_type::float32, element_type::float64};
constexpr std::size_t element_bytes(element_type type) {
  if (type == element_type::uint8) return 1;
  return type == element_type::uint64 || type == element_type::float64 ? 8 : 4;
}
std::string type_name(element_type type);  ///< "uint8", "float32", ...

template <class T>
constexpr element_type element_type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return element_type::uint8;
  if constexpr (std::is_same_v<T, std::int32_t>) return element_type::int32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return element_type::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return element_type::uint64;
  if constexpr (std::is_same_v<T, float>) return element_type::float32;
  if constexpr (std::is_same_v<T, double>) return element_type::float64;
}

/// Calls use.template operator()<T>() with the C++ type of an element type.
template <class Use>
void with_element_type(element_type type, Use&& use) {
  switch (type) {
    case element_type::uint8:
      return use.template operator()<std::uint8_t>();
    case element_type::int32:
      return use.template operator()<std::int32_t>();
    case element_type::uint32:
      return use.template operator()<std::uint32_t>();
    case element_type::uint64:
      return use.template operator()<std::uint64_t>();
    case element_type::float32:
      return use.template operator()<float>();
    case element_type::float64:
      return use.template operator()<double>();
  }
}

/// Where an output is stored in the result file.
enum class output_layout {
  volume,  ///< /maps/NAME on the image grid (nz, ny, nx[, components]), zero outside the mask
  items,   ///< /samples/NAME, one row per item (items, ...)
  points,  ///< /points/NAME, as many rows per item as analysis::point_offsets() says (points, ...)
};

/// One quantity of every item, as stored in the result file.
struct output_spec {
  std::string name;
  element_type type = element_type::float32;
  std::vector<std::uint64_t> shape;  ///< shape of one item: {} scalar, {3} vector, {50} samples
  output_layout layout = output_layout::volume;
  std::string unit;     ///< "mm2/s", "rad", "1"
  std::string meaning;  ///< one sentence

  std::size_t bytes_per_item() const;
};

/// One quantity of every item, as declared in a kernel's header. An analysis declares all of its outputs once, in
/// a table: a type with a constant array of these,
///   struct tensor_outputs { static constexpr output table[] = {{"FA", element_type::float32, 1, "1", "..."}, ...}; };
/// Buffers, copies, datasets and their attributes follow from the table.
struct output {
  const char* name;
  element_type type;
  std::size_t width;  ///< values per item
  const char* unit;
  const char* meaning;
  output_layout layout = output_layout::volume;

  constexpr std::size_t bytes_per_item() const { return width * element_bytes(type); }
  output_spec spec() const;
};

template <class Outputs>
inline constexpr std::size_t output_count = std::size(Outputs::table);

/// Index of an output in its table; output_count if the table has no such name.
template <class Outputs>
constexpr std::size_t find_output(std::string_view name) {
  std::size_t i = 0;
  while (i < output_count<Outputs> && name != Outputs::table[i].name) ++i;
  return i;
}

/// Bytes per item of each output.
template <class Outputs>
constexpr std::array<std::size_t, output_count<Outputs>> output_widths() {
  std::array<std::size_t, output_count<Outputs>> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = Outputs::table[i].bytes_per_item();
  return bytes;
}

template <class Outputs>
constexpr std::size_t output_bytes_per_item() {
  std::size_t bytes = 0;
  for (const output& o : Outputs::table) bytes += o.bytes_per_item();
  return bytes;
}

/// The outputs of a table that a run writes.
template <class Outputs>
using output_choice = std::bitset<output_count<Outputs>>;

template <class Outputs>
output_choice<Outputs> all_outputs() {
  return output_choice<Outputs>().set();
}

/// The chosen outputs, in the table's order.
template <class Outputs>
std::vector<output_spec> output_specs(const output_choice<Outputs>& chosen = all_outputs<Outputs>()) {
  std::vector<output_spec> specs;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) specs.push_back(Outputs::table[i].spec());
  return specs;
}

/// A batch's rows of output i, as numbers of its type.
template <class T>
T* output_array(std::span<const std::span<std::byte>> outputs, std::size_t i) {
  return reinterpret_cast<T*>(outputs[i].data());
}

}  // namespace voxherd
