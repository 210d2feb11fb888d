#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/dwi_request.hpp"

namespace voxherd {

/// A diffusion-weighted series with its mask; the input of all diffusion analyses. Collective. All inputs are checked
/// before the constructor returns (rank 0 reads headers, gradients and mask, and broadcasts them), except compressed
/// data: a .nii.gz is inflated in the background, and all ranks must wait for each stage before load(). The first
/// load() on rank 0 also warns if other directions than those of the table fit the signals clearly better.
class dwi_series final : public item_input {
 public:
  /// `host_memory_bytes`: limit for compressed images on a node, see items_within(). Throws failure (usage) if a file
  /// is not named.
  dwi_series(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes);
  ~dwi_series() override;
  dwi_series(dwi_series&&) noexcept;

  /// Leaves out all other volumes, from everything below. Once, before the first load().
  void keep_volumes(std::vector<std::uint32_t> volumes);

  const image_grid& grid() const;
  const std::vector<std::uint64_t>& item_voxels() const;  ///< linear indices of the voxels inside the mask, increasing
  const gradient_table& gradients() const;                ///< in FSL's frame
  std::size_t measurements() const;                       ///< number of volumes that are kept, K
  bool has_gradient_deviation() const;
  /// Whether the rules for masks allow that there are no voxels.
  bool may_be_empty() const;

  /// Floats per item in load()'s output: K signals, then the 9 of the gradient deviation L if given, column by column.
  std::size_t floats_per_item() const;

  /// Loads the signals of a batch. From plain NIfTI, this rank reads its own part. A .nii.gz is inflated once per node
  /// into memory shared by the node's ranks, only masked voxels, in several passes if they exceed --host-memory. Call
  /// only from the thread that makes MPI calls.
  void load(const batch& items, std::span<float> out, input_layout layout = input_layout::rows);
  void load(const batch& items, std::span<std::byte> rows) override;
  void load_columns(const batch& items, std::span<std::byte> columns) override;
  std::size_t bytes_per_item() const override { return floats_per_item() * sizeof(float); }
  std::uint64_t max_items() const override;
  std::uint64_t later_bytes() const override;
  void begin(std::uint64_t first, std::uint64_t last) override;
  bool is_ready() override;

  /// For the result file: paths, sizes, fingerprints and image header as JSON; bvals and bvecs as constants in /inputs.
  nlohmann::json provenance() const;
  std::vector<constant> constants() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
