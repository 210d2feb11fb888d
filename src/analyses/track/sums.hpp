#pragma once

#include <utility>
#include <vector>

#include "kernels/portable/output_arrays.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/track/groups.hpp"

namespace voxherd {

/// Sums over all groups of streamlines; on rank 0.
struct track_sums {
  std::vector<std::uint64_t> density, length;             ///< one per place; length: in steps
  std::vector<std::uint64_t> accepted;                    ///< one per seed
  std::vector<std::uint64_t> hits, hit_length;            ///< (region, region)
  std::vector<std::uint64_t> target_hits, target_length;  ///< (seed, target)
  std::vector<std::uint64_t> directions;                  ///< several per place, as track::counters has them
  std::uint64_t walked = 0;

  std::uint64_t all_accepted() const;
};

/// Number of a group, and its bits as track::counters has them.
using group_bits = std::pair<std::uint64_t, std::vector<std::uint32_t>>;

/// Adds up the groups whose batches this rank receives, in any order.
class group_collector {
 public:
  explicit group_collector(const track_inputs& in);
  /// A batch of streamline_groups.
  void add(const batch& groups, std::span<const std::span<const std::byte>> outputs);
  /// Adds up the sums of all ranks. Collective; once.
  track_sums gather(const session& s);
  /// The bits of this rank's groups, in any order.
  const std::vector<group_bits>& accepted_bits() const { return accepted_bits_; }

 private:
  const track_inputs& in_;
  output_choice<group_outputs> chosen_;
  track_sums own_;
  std::vector<group_bits> accepted_bits_;
};

void log_sums(const track_sums& sums, const track_inputs& in, const device& d);

/// The result: maps over `voxels`, those of all places in the order of the result, and constants. The maps are computed
/// when they are written; all arguments outlive them.
std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_track_constants(const track_sums& sums, const track_inputs& in);
known_size track_size(const track_inputs& in);

/// Sums over all groups of each tract; on rank 0.
struct tract_sums {
  std::vector<std::vector<std::uint64_t>> density, length;  ///< one per tract and place; length: in steps
  std::vector<std::uint64_t> accepted, started;
  std::uint64_t walked = 0;
};

/// The same for tract_groups.
class tract_collector {
 public:
  explicit tract_collector(const tract_inputs& in);
  void add(const batch& groups, std::span<const std::span<const std::byte>> outputs);
  tract_sums gather(const session& s);

 private:
  const tract_inputs& in_;
  output_choice<tract_group_outputs> chosen_;
  tract_sums own_;
};

void log_sums(const tract_sums& sums, const tract_inputs& in, const device& d);
std::vector<known_output> make_tract_maps(const tract_sums& sums, const tract_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_tract_constants(const tract_sums& sums, const tract_inputs& in);
known_size tracts_size(const tract_inputs& in);
/// Memory of all sums on each rank.
double tract_sum_bytes(const tract_inputs& in);

/// Outputs with default options, for the help text.
std::vector<output_spec> track_outputs();

}  // namespace voxherd
