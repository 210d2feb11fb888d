#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/track/field.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/track/sample_check.hpp"

namespace voxherd {

/// Rows of a result, one after another, and the places of their voxels among those that are read.
struct row_range {
  std::uint64_t row, place, count;
};

/// Posterior samples in a result of ballstick.
class result_samples {
 public:
  /// Throws failure (missing_input, bad_data).
  explicit result_samples(const std::string& path);

  const result_reader& result() const { return result_; }
  std::int32_t fibres() const { return fibres_; }
  std::int32_t samples() const { return samples_; }
  const std::vector<std::uint64_t>& voxels() const { return result_.item_voxels(); }
  /// Names of the columns th, ph, f of the first fibres, for messages.
  std::vector<std::string> names(std::int32_t fibres) const;

  /// Whether threads can read rows without HDF5, which reads on one thread only.
  bool has_plain_rows() const { return !offsets_.empty(); }
  /// The rows of some voxels; others have none. Both, `wanted` and voxels(), must increase.
  std::vector<row_range> find_rows(const std::vector<std::uint64_t>& wanted) const;
  /// Packs some rows as (place, sample, fibre), of the first fibres. Needs plain rows.
  void read(std::span<const row_range> rows, std::int32_t fibres, track::packed_fibre* packed, int threads,
            sample_check& check) const;
  /// Packs all rows.
  void read(track::packed_fibre* packed, int threads, sample_check& check) const;

 private:
  std::vector<std::string> columns(std::int32_t fibres) const;
  std::vector<std::uint64_t> column_offsets() const;
  std::vector<std::vector<float>> read_columns(std::uint64_t first, std::uint64_t rows) const;
  void read_with_hdf5(track::packed_fibre* packed, int threads, sample_check& check) const;

  result_reader result_;
  std::int32_t fibres_ = 0, samples_ = 0;
  std::vector<std::uint64_t> offsets_;  ///< where the columns begin in the file; empty if only HDF5 can read them
};

}  // namespace voxherd
