#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/perfusion/signal_model.hpp"
#include "kernels/phantom/tissue_curves.hpp"
#include "src/phantom/liver_phantom.hpp"

namespace voxherd {

/// Computes the stored signal from the composition of voxels.
class liver_signal {
 public:
  explicit liver_signal(const liver_phantom_settings& settings);

  /// Signals of frame k of voxel first_voxel + i at line[k * stride + i]. Zero in air.
  void make_frames(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                   std::uint64_t stride) const;
  /// The same for each flip angle of the series for T1; only for spoiled echoes.
  void make_vfa(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                std::uint64_t stride) const;

  const std::vector<double>& frame_s() const { return frame_s_; }
  /// The true curves in blood, mM or HU: as simulated, and at the frames.
  const input_curves& inputs() const { return inputs_; }
  const input_curves& inputs_at_frames() const { return at_frames_; }
  const noise_settings& noise() const { return noise_; }
  /// An upper bound of all signals of the phantom, including noise.
  double largest_signal() const;

 private:
  /// The signal as an affine function of the voxel's signal before contrast.
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
  std::array<std::vector<affine>, 6> shared_;  ///< curves of tissues in which all voxels have the same one
  noise_settings noise_;
};

}  // namespace voxherd
