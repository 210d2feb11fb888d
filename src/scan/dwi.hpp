#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/options.hpp"
#include "kernels/portable/gradients.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/staged_input.hpp"

namespace voxherd {

/// The files of a diffusion-weighted series; "" for none.
struct dwi_request {
  std::string dwi, bvals, bvecs, mask, gradient_deviation;
};

const option_table<dwi_request>& dwi_options();

/// A diffusion-weighted series with its mask: what all that begins with diffusion reads. Made by all ranks together;
/// everything is checked before it returns (rank 0 reads headers, gradients and mask, and broadcasts), but for
/// compressed data: a .nii.gz is inflated while the caller goes on, who has all ranks wait for input() before load().
class dwi_series {
 public:
  /// `host_memory_bytes`: limit for compressed images on a node, see items_within(). Throws failure (usage) if a file
  /// is not named.
  dwi_series(const session& s, const dwi_request& request, std::uint64_t host_memory_bytes);
  ~dwi_series();
  dwi_series(dwi_series&&) noexcept;

  const image_grid& grid() const;
  const std::vector<std::uint64_t>& item_voxels() const;  ///< voxels inside the mask, increasing
  const gradient_table& gradients() const;
  std::size_t measurements() const;  ///< volumes, K
  bool has_gradient_deviation() const;

  /// Floats per item in load()'s output: K signals, then 9 of the gradient deviation where there is one
  /// (FSL's volume order: column-wise).
  std::size_t floats_per_item() const;

  /// Signals of the batch's voxels, one row an item. Plain NIfTI: this rank reads its own part. .nii.gz: inflated once
  /// per node into memory that the node's ranks share, masked voxels only; in several passes where they exceed
  /// --host-memory. Thread: the talking one.
  void load(const batch& items, std::span<float> out);

  /// What load() reads from.
  staged_input& input();

  /// Paths, sizes, fingerprints and image header for the provenance; bvals and bvecs for /inputs.
  nlohmann::json provenance() const;
  std::vector<constant> constants() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
