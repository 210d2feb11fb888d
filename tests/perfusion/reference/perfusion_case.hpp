#pragma once

#include <vector>

#include "tests/perfusion/reference/perfusion_run.hpp"

/// Voxels that need no files, and what must hold of their fits on any device.
namespace voxherd::reference {

struct perfusion_case {
  perfusion::time_course frames;
  std::vector<float> rows;  ///< [voxel][frame], mM
  std::size_t count = 0;

  std::vector<double> samples(std::size_t voxel) const;
};

enum class frame_times { even, uneven };

/// 48 frames of 2.37 s (uneven: some 1, some 4 s apart), three of them missing, with inputs that are not zero at the
/// first; an odd number of noisy voxels of random physiology at CNR 30, with every kind of voxel that cannot be fitted,
/// and NaN in a missing frame, among them.
perfusion_case uneasy_voxels(frame_times times = frame_times::even);

/// What becomes of voxel i of uneasy_voxels().
std::uint8_t expected_status(std::size_t voxel);

/// The standard settings, but a fit with derivatives goes on until rounding ends it, not a tolerance.
perfusion::fit_settings quality_settings(perfusion::solver_kind solver,
                                         perfusion::precision_kind precision = perfusion::precision_kind::float64);

/// Where a bounded fit ended, the reference's own descent finds at most `excess` of the cost to gain. The paper's cost
/// has kinks at delays of whole frames, where a method with derivatives may get stuck: how many do is a property of the
/// test, and nothing is asked of the cost there.
void expect_minima(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run, double excess);

/// The simplex takes as many iterations as the reference's, and ends there, in all of every other voxel but 1.5 %: a
/// near tie that a last digit decides otherwise can send a voxel another way.
void expect_simplex_of_reference(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run);

/// The same parameters as the reference's linear least squares, in the rules' bounds or without.
void expect_linear_of_reference(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run);

/// A batch through a device, asked for all of the above that its solver promises.
void expect_equivalent_to_reference(const device& d, const perfusion::fit_settings& s,
                                    frame_times times = frame_times::even);

/// All solvers, convolutions, discretisations, precisions and kinds of frames that go together, by name.
struct way_to_fit {
  const char* name;
  perfusion::fit_settings settings;
  frame_times times;
};
std::vector<way_to_fit> every_way_to_fit();

}  // namespace voxherd::reference
