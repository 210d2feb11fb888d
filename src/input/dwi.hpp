#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "kernels/portable/gradients.hpp"
#include "mpi/analysis.hpp"
#include "mpi/session.hpp"
#include "src/command.hpp"

namespace voxherd {

/// --dwi, --bvals, --bvecs, --mask, --grad-dev
void add_dwi_options(po::options_description& options);

/// A diffusion-weighted series with its mask: the input of tensor and ballstick. Made by all ranks together; everything
/// is checked before it returns, but for compressed data that are inflated meanwhile (rank 0 reads headers, gradients
/// and mask, and broadcasts).
class dwi_series {
 public:
  /// A .nii.gz is inflated before the series is there (`at_once`), or while the caller goes on with other things
  /// (`meanwhile`), who then has all ranks call wait() before the first load().
  enum class inflating { at_once, meanwhile };
  dwi_series(const session& s, const arguments& args, inflating when = inflating::at_once);
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
  /// per node into memory that the node's ranks share, masked voxels only. Thread: the talking one.
  void load(const batch& items, std::span<float> out);

  /// Until load() can be called; within session::agree(). Throws failure (bad_data, disk) on the ranks that read a
  /// damaged file.
  void wait();

  /// Paths, sizes, fingerprints and image header for the provenance; bvals and bvecs for /inputs.
  nlohmann::json provenance() const;
  std::vector<constant> constants() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
