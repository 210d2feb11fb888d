#pragma once

#include <cstddef>
#include <cstdint>

#include "core/outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/track/field.hpp"

/// What is counted of streamlines. A tally is one header of kernels/track/tallies: the arrays of its sums as a table,
/// and a function count() for each event that changes them. All else follows from the tables: memory on CPUs and GPUs,
/// sums over threads and ranks, and intermediate files.
namespace voxherd::track {

/// What the numbers of an array belong to. Each group of streamlines has one row of each array.
enum class counted_by : std::uint8_t {
  group,   ///< the group
  place,   ///< a place: a voxel that streamlines can reach
  seed,    ///< a seed of the group
  column,  ///< a seed and a column: a region or a target
  word,    ///< 32 streamlines, one bit each
  cell,    ///< row and column of a matrix; these rows are not those of a group
};

/// One array of sums of integers, which do not depend on the order.
struct count_array {
  const char* name;
  element_type type;  ///< uint32 where the sum over a group fits, else uint64
  counted_by by;
  const char* unit;
  const char* meaning;
  std::size_t width = 1;  ///< numbers for each place, seed, ...
};

/// Sizes of the arrays of one group.
struct count_extents {
  std::size_t places = 0, seeds = 0, columns = 0, words = 0;

  /// Numbers that an array has.
  std::size_t numbers(const count_array& array) const {
    switch (array.by) {
      case counted_by::group:
        return array.width;
      case counted_by::place:
        return places * array.width;
      case counted_by::seed:
        return seeds * array.width;
      case counted_by::column:
        return seeds * columns * array.width;
      case counted_by::word:
        return words * array.width;
      case counted_by::cell:
        break;
    }
    return 0;
  }
  std::size_t bytes(const count_array& array) const { return numbers(array) * element_bytes(array.type); }
};

/// Words for the bits of so many streamlines.
VOXHERD_FUNCTION inline std::uint64_t bit_words(std::uint64_t streamlines) { return (streamlines + 31) / 32; }

// Events of streamlines that count. `at`: where the numbers are in arrays of this kind; `steps`: from the seed.

/// The first visit to a place.
struct place_visit {
  std::size_t at;
  std::int32_t steps;
};
/// The direction in which a streamline comes to a place for the first time, or leaves its seed's. Noted visits have no
/// direction: where a tally takes this event, streamlines with conditions are drawn twice.
struct place_direction {
  std::size_t at;
  direction travel;
};
/// The first visit to a column: a region or a target.
struct column_visit {
  std::size_t at;
  std::int32_t steps;
};
/// The first visit to a column of the matrix.
struct cell_visit {
  std::size_t at;
  std::int32_t steps;
};
/// A streamline is accepted.
struct acceptance {
  std::size_t seed;
  std::size_t word;
  std::uint32_t bit;
};
/// Steps were walked, also by streamlines that do not count.
struct walked_steps {
  std::size_t group;
  std::uint64_t steps;
};

VOXHERD_FUNCTION inline void add(std::uint32_t* to, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(to, value);
#else
  *to += value;
#endif
}

VOXHERD_FUNCTION inline void add(std::uint64_t* to, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  *to += value;
#endif
}

/// The arrays of one tally.
template <class Tally>
struct counts_of {
  void* const* array;  ///< in the order of the tally's table; null for a tally that is not wanted

  template <output_name Name>
  VOXHERD_FUNCTION auto* values() const {
    constexpr std::size_t i = find_output<Tally>(Name.text);
    static_assert(i < output_count<Tally>, "the tally has no array of this name");
    return static_cast<typename outputs_detail::value_type<Tally::table[i].type>::type*>(array[i]);
  }

  /// Adds to number `at` of an array, unless it is not wanted.
  template <output_name Name, class Value>
  VOXHERD_FUNCTION void add(std::size_t at, Value value) const {
    auto* const to = values<Name>();
    if (to != nullptr) track::add(to + at, value);
  }
};

/// What a run writes of a tally; src/analyses/track/tally_output.hpp.
struct tally_output;

}  // namespace voxherd::track
