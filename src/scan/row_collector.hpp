#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "src/io/gzip/gzip.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/stored_rows.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// Collects the bytes of a NIfTI file, arriving from several threads in arbitrary pieces, into rows. Chosen voxels are
/// stored in columns, one per volume; when a group of volumes is complete, further threads transpose its columns to
/// rows. Needs three times 64 bytes per voxel in addition to the rows.
class row_collector : public inflated_sink {
 public:
  /// `runs` are the chosen voxels, `voxels` their number. Rows are written to `memory` at `place` by `turners` threads
  /// per group. All references must outlive the collector.
  row_collector(const nifti_header& header, const std::vector<voxel_run>& runs, std::uint64_t voxels,
                const stored_rows::place& place, std::byte* memory, unsigned turners);
  ~row_collector() override;

  void take(std::uint64_t position, const std::byte* bytes, std::size_t count) override;
  void cancel() override;
  /// Waits for the threads. True if all rows are complete.
  bool finish();

 private:
  static constexpr std::size_t slots = 3;
  struct group {
    std::atomic<std::uint64_t> values_left{0};
    std::atomic<unsigned> turners_left{0};
    bool is_turned = false;
  };
  /// A value whose bytes are split between two pieces.
  struct split_value {
    std::array<std::byte, 16> bytes{};
    std::size_t found = 0;
  };
  void take_part(std::uint64_t offset, const std::byte* bytes, std::size_t count);
  void take_values(std::uint64_t first_value, std::uint64_t count, const std::byte* bytes);
  bool wait_for_columns(std::uint64_t index);
  void pick(std::uint64_t first_voxel, std::uint64_t count, const std::byte* bytes, std::byte* column) const;
  void turn(std::uint64_t index);
  void turn_part(std::uint64_t index, unsigned part);
  std::byte* group_columns(std::uint64_t index) { return columns_[index % slots].data(); }

  const nifti_header& header_;
  const std::vector<voxel_run>& runs_;
  const std::uint64_t voxels_, grid_voxels_;
  const stored_rows::place& place_;
  std::byte* const memory_;
  const std::uint64_t volumes_at_once_;
  const std::size_t column_bytes_;
  const unsigned turners_;
  std::array<std::vector<std::byte>, slots> columns_;
  std::vector<group> groups_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_up_ = false;
  std::map<std::uint64_t, split_value> split_;  ///< by index of the value
  std::vector<std::future<void>> turning_;
};

}  // namespace voxherd
