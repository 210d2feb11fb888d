#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/track/tally_list.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// The arrays that a run counts: their numbers in track::all_counts.
std::vector<std::size_t> list_counted_arrays(const track_inputs& in);

/// Number of a group, and its bits as track::accepted_bits has them.
using group_bits = std::pair<std::uint64_t, std::vector<std::uint32_t>>;

/// Sums of all arrays over groups of streamlines.
class track_sums {
 public:
  explicit track_sums(const track_inputs& in);

  /// Adds one row of array number `array`: that of group number `group`.
  void add(std::size_t array, std::uint64_t group, std::span<const std::byte> row);
  /// Adds up the sums of all ranks; only rank 0 has them then. Collective; once.
  void gather(const session& s);

  /// An array by place has one list for each tract. Arrays by seed have all seeds; those by column first have pairs of
  /// regions, then seeds and targets.
  template <output_name Name>
  const std::vector<std::uint64_t>& values(std::size_t tract = 0) const {
    return sums_[track::counters::place<Name>()][tract];
  }
  template <output_name Name>
  std::uint64_t of_regions(std::size_t from, std::size_t to) const {
    return values<Name>()[from * in_->labels.size() + to];
  }
  template <output_name Name>
  std::uint64_t of_target(std::uint64_t seed, std::size_t target) const {
    return values<Name>()[in_->labels.size() * in_->labels.size() + seed * in_->target_names.size() + target];
  }
  /// Accepted streamlines, of a tract or of all.
  std::uint64_t accepted(std::size_t tract) const;
  std::uint64_t accepted() const;
  /// The bits of this rank's groups, in any order.
  const std::vector<group_bits>& accepted_bits() const { return bits_; }

 private:
  template <class T>
  void add_numbers(std::size_t array, std::uint64_t group, std::span<const T> row);
  std::size_t size(const track::count_array& array) const;

  const track_inputs* in_;
  std::vector<std::size_t> arrays_;
  std::array<std::vector<std::vector<std::uint64_t>>, track::counters::array_count> sums_;
  std::vector<group_bits> bits_;
};

/// Whether a run counts a tally.
template <class Tally>
bool is_counted(const track_inputs& in) {
  const std::vector<std::size_t> arrays = list_counted_arrays(in);
  return std::find(arrays.begin(), arrays.end(), track::tally_list::first_array<Tally>()) != arrays.end();
}

/// Memory that sums take on each rank, in bytes.
double sum_bytes(const track_inputs& in);

}  // namespace voxherd
