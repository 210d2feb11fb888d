#pragma once

#include <cstddef>
#include <cstring>

#include "core/outputs.hpp"
#include "kernels/portable/contract.hpp"

namespace voxherd {

/// The floats of one voxel, `stride` apart, so that neighbouring GPU threads read neighbouring addresses.
struct signal_row {
  const float* first;
  std::size_t stride;
#if !defined(NDEBUG)
  std::size_t count = unlimited;
#endif

  VOXHERD_FUNCTION double operator[](std::size_t k) const {
    assert(k < count);
    return static_cast<double>(first[k * stride]);
  }

  /// The same row, whose contract is that only its first `floats` are read.
  VOXHERD_FUNCTION signal_row limited_to([[maybe_unused]] std::size_t floats) const {
    signal_row row = *this;
#if !defined(NDEBUG)
    row.count = floats;
#endif
    return row;
  }
};

/// An output's name as a template argument, so that a misspelt one does not compile.
template <std::size_t Size>
struct output_name {
  char text[Size] = {};
  // NOLINTNEXTLINE(google-explicit-constructor): put<"name"> converts
  constexpr output_name(const char (&name)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
  }
};

namespace outputs_detail {
template <element_type Type>
struct value_type;
template <>
struct value_type<element_type::uint8> {
  using type = std::uint8_t;
};
template <>
struct value_type<element_type::int32> {
  using type = std::int32_t;
};
template <>
struct value_type<element_type::uint32> {
  using type = std::uint32_t;
};
template <>
struct value_type<element_type::uint64> {
  using type = std::uint64_t;
};
template <>
struct value_type<element_type::float32> {
  using type = float;
};
template <>
struct value_type<element_type::float64> {
  using type = double;
};
}  // namespace outputs_detail

/// Arrays of a batch's outputs, in host or device memory: one row per item, null for an output that is not wanted.
template <class Outputs>
struct output_arrays {
  static constexpr std::size_t count = output_count<Outputs>;

  void* array[count] = {};  ///< in the table's order
#if !defined(NDEBUG)
  std::size_t items = unlimited;
#endif

  /// Contract: only the first `number` items are stored.
  void limit_to([[maybe_unused]] std::size_t number) {
#if !defined(NDEBUG)
    items = number;
#endif
  }

  template <output_name Name>
  static constexpr std::size_t place() {
    constexpr std::size_t i = find_output<Outputs>(Name.text);
    static_assert(i < count, "the table has no output of this name");
    return i;
  }

  template <output_name Name>
  using value = typename outputs_detail::value_type<Outputs::table[place<Name>()].type>::type;

  /// The array of an output; null where it is not wanted.
  template <output_name Name>
  VOXHERD_FUNCTION value<Name>* values() const {
    return static_cast<value<Name>*>(array[place<Name>()]);
  }

  template <output_name Name>
  void set(value<Name>* values) {
    array[place<Name>()] = values;
  }

  /// Stores an item's value, where it is wanted.
  template <output_name Name, class Value>
  VOXHERD_FUNCTION void put(std::size_t item, Value number) const {
    static_assert(Outputs::table[place<Name>()].width == 1, "this output has several values per item");
    assert(item < items);
    if (values<Name>() != nullptr) values<Name>()[item] = static_cast<value<Name>>(number);
  }

  /// The same for an output of several values per item.
  template <output_name Name, class Value, std::size_t Width>
  VOXHERD_FUNCTION void put(std::size_t item, const Value (&numbers)[Width]) const {
    static_assert(Outputs::table[place<Name>()].width == Width, "this output has another number of values per item");
    assert(item < items);
    value<Name>* const first = values<Name>();
    if (first == nullptr) return;
    VOXHERD_UNROLL
    for (std::size_t i = 0; i < Width; ++i) first[Width * item + i] = static_cast<value<Name>>(numbers[i]);
  }

  /// The array of an output of floats that is known by its place.
  VOXHERD_FUNCTION float* floats(std::size_t i) const {
    assert(i < count);
    return static_cast<float*>(array[i]);
  }

  /// Stores an item's value there, where it is wanted.
  VOXHERD_FUNCTION void put_float(std::size_t i, std::size_t item, float number) const {
    assert(i < count && item < items);
    if (array[i] != nullptr) floats(i)[item] = number;
  }
};

/// A batch's outputs as the run hands them out: those chosen, in the table's order; null for the others.
template <class Outputs>
output_arrays<Outputs> arrays_in(std::span<const std::span<std::byte>> outputs,
                                 const output_choice<Outputs>& chosen = all_outputs<Outputs>()) {
  output_arrays<Outputs> arrays;
  for (std::size_t i = 0, next = 0; i < arrays.count; ++i)
    if (chosen[i]) {
      arrays.limit_to(outputs[next].size() / Outputs::table[i].bytes_per_item());
      arrays.array[i] = outputs[next++].data();
    }
  return arrays;
}

/// All outputs of one item, in host memory.
template <class Outputs>
class output_record {
 public:
  template <output_name Name>
  using value = typename output_arrays<Outputs>::template value<Name>;

  template <output_name Name>
  value<Name> get(std::size_t component = 0) const {
    constexpr std::size_t i = output_arrays<Outputs>::template place<Name>();
    value<Name> number;
    std::memcpy(&number, bytes_ + offset(i) + component * sizeof number, sizeof number);
    return number;
  }

  void read(const output_arrays<Outputs>& from, std::size_t item) {
    for (std::size_t i = 0; i < from.count; ++i)
      std::memcpy(bytes_ + offset(i), static_cast<const std::byte*>(from.array[i]) + item * width(i), width(i));
  }
  void write(const output_arrays<Outputs>& to, std::size_t item) const {
    for (std::size_t i = 0; i < to.count; ++i)
      std::memcpy(static_cast<std::byte*>(to.array[i]) + item * width(i), bytes_ + offset(i), width(i));
  }

 private:
  static constexpr std::size_t width(std::size_t i) { return Outputs::table[i].bytes_per_item(); }
  static constexpr std::size_t offset(std::size_t i) {
    std::size_t before = 0;
    for (std::size_t k = 0; k < i; ++k) before += width(k);
    return before;
  }

  std::byte bytes_[output_bytes_per_item<Outputs>()] = {};
};

/// Host memory for all outputs of `count` items, for callers that are not a run.
template <class Outputs>
class output_memory {
 public:
  explicit output_memory(std::size_t count) {
    arrays_.limit_to(count);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].resize((count * Outputs::table[i].bytes_per_item() + sizeof(double) - 1) / sizeof(double));
      arrays_.array[i] = columns_[i].data();
    }
  }
  output_memory(const output_memory&) = delete;
  output_memory& operator=(const output_memory&) = delete;

  const output_arrays<Outputs>& arrays() const { return arrays_; }
  bool operator==(const output_memory& other) const { return columns_ == other.columns_; }
  template <output_name Name>
  auto* values() const {
    return arrays_.template values<Name>();
  }

 private:
  std::array<std::vector<double>, output_count<Outputs>> columns_;
  output_arrays<Outputs> arrays_;
};

}  // namespace voxherd
