#pragma once

#include <array>
#include <utility>

#include "kernels/track/tallies/accepted.hpp"
#include "kernels/track/tallies/accepted_bits.hpp"
#include "kernels/track/tallies/cells.hpp"
#include "kernels/track/tallies/densities.hpp"
#include "kernels/track/tallies/directions.hpp"
#include "kernels/track/tallies/hits.hpp"
#include "kernels/track/tallies/lengths.hpp"
#include "kernels/track/tallies/walked.hpp"

namespace voxherd::track {

template <class... Tally>
struct tally_types {
  static constexpr std::size_t array_count = (output_count<Tally> + ...);

  /// Calls use.template operator()<Tally>() for each one.
  template <class Use>
  static constexpr void for_each(Use&& use) {
    (use.template operator()<Tally>(), ...);
  }

  /// The arrays of all of them, one tally after another.
  static constexpr std::array<count_array, array_count> join() {
    std::array<count_array, array_count> all{};
    std::size_t next = 0;
    for_each([&]<class T>() {
      for (const count_array& one : T::table) all[next++] = one;
    });
    return all;
  }

  /// Number of the first array of a tally.
  template <class Wanted>
  static constexpr std::size_t first_array() {
    std::size_t next = 0, found = array_count;
    for_each([&]<class T>() {
      if (std::is_same_v<T, Wanted>) found = next;
      next += output_count<T>;
    });
    return found;
  }
};

/// All tallies, in the order in which a result has what they write.
using tally_list =
    tally_types<densities, accepted, walked, lengths, directions, hits, hit_lengths, accepted_bits, cells>;

struct all_counts {
  static constexpr auto table = tally_list::join();
};

/// The arrays of all tallies, from a group's row on; null for those that are not wanted. On a GPU many threads add to
/// the same arrays.
struct counters : output_arrays<all_counts> {
  /// Whether a tally of the list counts this event.
  template <class Event>
  VOXHERD_FUNCTION bool want() const {
    return want<Event>(tally_list());
  }

  /// Lets the tallies count an event.
  template <class Event>
  VOXHERD_FUNCTION void add(const Event& event) const {
    add(event, tally_list());
  }

  /// The arrays of group number `row` of those that begin here.
  counters row(std::size_t row, const count_extents& of_group) const {
    counters c;
    for (std::size_t i = 0; i < array_count; ++i)
      if (array[i] != nullptr)
        c.array[i] = static_cast<std::byte*>(array[i]) + row * of_group.bytes(all_counts::table[i]);
    return c;
  }

  static constexpr std::size_t array_count = tally_list::array_count;

 private:
  template <class Tally, class Event>
  static constexpr bool takes = requires(const counts_of<Tally>& to, const Event& event) {
    Tally::count(to, event);
  };

  template <class Event, class... Tally>
  VOXHERD_FUNCTION bool want(tally_types<Tally...>) const {
    return ((takes<Tally, Event> && array[tally_list::first_array<Tally>()] != nullptr) || ...);
  }

  template <class Event, class... Tally>
  VOXHERD_FUNCTION void add(const Event& event, tally_types<Tally...>) const {
    (add_to<Tally>(event), ...);
  }

  template <class Tally, class Event>
  VOXHERD_FUNCTION void add_to([[maybe_unused]] const Event& event) const {
    if constexpr (takes<Tally, Event>) Tally::count({array + tally_list::first_array<Tally>()}, event);
  }
};

}  // namespace voxherd::track
