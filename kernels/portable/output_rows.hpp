#pragma once

#include "kernels/portable/output_arrays.hpp"

namespace voxherd {

/// A batch's outputs as the run hands them to those who read them: those chosen, in the table's order.
template <class Outputs>
class output_rows {
 public:
  explicit output_rows(std::span<const std::span<const std::byte>> outputs,
                       const output_choice<Outputs>& chosen = all_outputs<Outputs>()) {
    for (std::size_t i = 0, next = 0; i < chosen.size(); ++i)
      if (chosen[i]) bytes_[i] = outputs[next++];
  }

  /// The values of all items one after another; empty for an output that is not chosen.
  template <output_name Name>
  auto values() const {
    using value = typename output_arrays<Outputs>::template value<Name>;
    const std::span<const std::byte> bytes = bytes_[output_arrays<Outputs>::template place<Name>()];
    return std::span<const value>(reinterpret_cast<const value*>(bytes.data()), bytes.size() / sizeof(value));
  }

  /// An output of floats that is known by its place; null if it is not chosen.
  const float* floats(std::size_t i) const { return reinterpret_cast<const float*>(bytes_[i].data()); }

  /// One item, of a table whose outputs are all chosen.
  output_record<Outputs> record(std::size_t item) const {
    output_arrays<Outputs> arrays;  // only read
    for (std::size_t i = 0; i < arrays.count; ++i) arrays.array[i] = const_cast<std::byte*>(bytes_[i].data());
    output_record<Outputs> one;
    one.read(arrays, item);
    return one;
  }

 private:
  std::span<const std::byte> bytes_[output_count<Outputs>];
};

}  // namespace voxherd
