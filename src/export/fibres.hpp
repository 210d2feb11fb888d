#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

/// Whether the result has fibres: points with a position.
bool has_fibres(const result_reader& result);

/// Fibres of a result: its outputs with layout `points` (including `position`) and `items`.
class result_fibres final : public fibre_source {
 public:
  /// All fibres of a complete result. Throws failure: missing_input, bad_data (incomplete, or without fibres).
  explicit result_fibres(const std::string& path);
  /// Some of its fibres. `items`: increasing. `r` must outlive this.
  result_fibres(const result_reader& r, std::vector<std::uint64_t> items);

  const image_grid& grid() const override { return result_.grid(); }
  std::span<const std::uint64_t> offsets() const override { return items_ ? offsets_ : result_.point_offsets(); }
  const std::vector<fibre_array>& fibre_arrays() const override { return fibre_arrays_; }
  const std::vector<fibre_array>& point_arrays() const override { return point_arrays_; }
  std::vector<std::string> history() const override;
  void read_positions(std::uint64_t first_point, std::span<float> mm) const override;
  void read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;
  void read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;

 private:
  void list_arrays();
  void read_stored(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const;
  void read_chosen(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const;
  void read_chosen_points(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const;

  std::unique_ptr<result_reader> own_;  ///< null for a result that was given
  const result_reader& result_;
  std::optional<std::vector<std::uint64_t>> items_;  ///< none: all
  std::vector<std::uint64_t> offsets_;               ///< offsets of the points of `items_`
  std::vector<fibre_array> fibre_arrays_, point_arrays_;
};

/// The point at which each streamline starts; 0 for those without points. Throws failure (bad_data) for a point that it
/// does not have.
std::vector<std::uint32_t> read_start_points(const result_reader& result);

using region_pair = std::array<std::int32_t, 2>;

/// The pairs of regions that each fibre joins, by their labels. 0: none.
struct joined_regions {
  bool has_halves = false;                         ///< of streamlines: the first region of a pair is the seed's
  std::vector<std::vector<region_pair>> of_fibre;  ///< each pair once; at least one pair for each fibre
  std::vector<std::vector<std::uint8_t>>
      half_of_pair;  ///< of streamlines: the half of each pair that reaches it, 0 or 1
};
/// From the output `regions` of geodesic and connect, or those of track: the seed's region with each other region that
/// the streamline reaches, as the connectome counts it. Nothing for fibres without regions.
std::optional<joined_regions> find_joined_regions(const fibre_source& source);

/// One group "A-B" per pair of regions (labels, the smaller first) that fibres join, sorted, with the mean of each
/// fibre array of one real number. None for fibres without regions.
std::vector<fibre_group> group_by_regions(const fibre_source& source);

}  // namespace voxherd
