#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/perfusion/signal_model.hpp"
#include "kernels/phantom/tissue_curves.hpp"
#include "src/tools/phantom/liver_phantom.hpp"

namespace voxherd {

/// From what voxels are made of to what the scanner stores.
class liver_signal {
 public:
  explicit liver_signal(const liver_phantom_settings& settings);

  /// Frame k of voxels first_voxel + i: line[k * stride + i]. Zero in air.
  void make_frames(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                   std::uint64_t stride) const;
  /// The same at the flip angles of the series for T1 (spoiled echoes alone).
  void make_vfa(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                std::uint64_t stride) const;

  const std::vector<double>& frame_s() const { return frame_s_; }
  /// True curves in the blood, mM or HU: as the phantom is made of them, and at the frames.
  const input_curves& inputs() const { return inputs_; }
  const input_curves& inputs_at_frames() const { return at_frames_; }
  const noise_settings& noise() const { return noise_; }
  /// Above any signal that the phantom has, noise included.
  double largest_signal() const;

 private:
  /// A signal is affine in the voxel's signal before the agent.
  struct affine {
    double offset, scale;
  };

  perfusion::voxel_signal_model model(double S0, double t1_s) const;
  double signal_before(const abdomen_voxel& v) const;
  void add_shared_curve(abdomen_tissue tissue, double t1_s, const double* curve);

  liver_phantom_settings settings_;
  perfusion::conversion conversion_;
  std::vector<double> frame_s_;
  input_curves inputs_, at_frames_;
  tissue_curves curves_;
  std::array<std::vector<affine>, 6> shared_;  ///< of tissues whose voxels all have one curve
  noise_settings noise_;
};

}  // namespace voxherd
