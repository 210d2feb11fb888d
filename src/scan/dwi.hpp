#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/command.hpp"
#include "kernels/portable/gradients.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

/// --dwi, --bvals, --bvecs, --mask, --grad-dev
void add_dwi_options(po::options_description& options);

/// A diffusion-weighted series with its mask: what all that begins with diffusion reads. Made by all ranks together;
/// everything is checked before it returns (rank 0 reads headers, gradients and mask, and broadcasts), but for
/// compressed data: a .nii.gz is inflated in stages while the caller goes on, who waits for them before load().
class dwi_series final : public item_input {
 public:
  dwi_series(const session& s, const arguments& args);
  ~dwi_series() override;
  dwi_series(dwi_series&&) noexcept;

  const image_grid& grid() const;
  const std::vector<std::uint64_t>& item_voxels() const;  ///< voxels inside the mask, increasing
  const gradient_table& gradients() const;
  std::size_t measurements() const;  ///< volumes, K
  bool has_gradient_deviation() const;

  /// Floats per item in load()'s output: K signals, then 9 of the gradient deviation where there is one
  /// (FSL's volume order: column-wise).
  std::size_t floats_per_item() const;

  /// Signals of the batch's voxels, one row per item. Plain NIfTI: this rank reads its own part. .nii.gz: inflated once
  /// per node into memory that the node's ranks share, masked voxels only; in several passes where they exceed
  /// --host-memory. Thread: the talking one.
  void load(const batch& items, std::span<float> out);
  void load(const batch& items, std::span<std::byte> rows) override;
  std::size_t bytes_per_item() const override { return floats_per_item() * sizeof(float); }
  std::uint64_t max_items() const override;
  std::uint64_t later_bytes() const override;
  void begin(std::uint64_t first, std::uint64_t last) override;
  bool is_ready() override;

  /// Paths, sizes, fingerprints and image header for the provenance; bvals and bvecs for /inputs.
  nlohmann::json provenance() const;
  std::vector<constant> constants() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
