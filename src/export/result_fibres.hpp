#pragma once

#include <string>

#include "mpi/result/result_reader.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

/// The fibres of a complete result: its outputs with layout `points` (including `position`) and `items`.
class result_fibres : public fibre_source {
 public:
  /// Throws failure: missing_input, bad_data (incomplete, or without fibres).
  explicit result_fibres(const std::string& path);

  const image_grid& grid() const override { return result_.grid(); }
  std::span<const std::uint64_t> offsets() const override { return result_.point_offsets(); }
  const std::vector<fibre_array>& fibre_arrays() const override { return fibre_arrays_; }
  const std::vector<fibre_array>& point_arrays() const override { return point_arrays_; }
  std::vector<std::string> history() const override;
  void read_positions(std::uint64_t first_point, std::span<float> mm) const override;
  void read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;
  void read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const override;

 private:
  result_reader result_;
  std::vector<fibre_array> fibre_arrays_, point_arrays_;
};

}  // namespace voxherd
