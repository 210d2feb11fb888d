#pragma once

#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd::view {

/// Some fibres of a result with all their data, for the writers of tracts.
class chosen_fibres final : public fibre_source {
 public:
  /// `items`: increasing. `r` must outlive this.
  chosen_fibres(const result_reader& r, std::vector<std::uint64_t> items);

  const image_grid& grid() const override { return result_.grid(); }
  std::span<const std::uint64_t> offsets() const override { return offsets_; }
  const std::vector<fibre_array>& fibre_arrays() const override { return fibre_arrays_; }
  const std::vector<fibre_array>& point_arrays() const override { return point_arrays_; }
  void read_positions(std::uint64_t first_point, std::span<float> mm) const override;
  void read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;
  void read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;

 private:
  void read_points(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const;

  const result_reader& result_;
  std::vector<std::uint64_t> items_, offsets_{0};
  std::vector<fibre_array> fibre_arrays_, point_arrays_;
};

}  // namespace voxherd::view
