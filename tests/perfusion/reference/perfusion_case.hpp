#pragma once

#include <vector>

#include "tests/perfusion/reference/perfusion_run.hpp"

/// Voxels that need no files, and the requirements on their fits on any device.
namespace voxherd::reference {

struct perfusion_case {
  perfusion::time_course frames;
  std::vector<float> rows;  ///< [voxel][frame], mM
  std::size_t count = 0;

  std::vector<double> samples(std::size_t voxel) const;
};

enum class frame_times { even, uneven };

/// 48 frames of 2.37 s (uneven: some 1, some 4 s apart), three of them missing, with inputs that are not zero at the
/// first frame; an odd number of noisy voxels with random physiology at CNR 30, including every kind of voxel that
/// cannot be fitted, and NaN in a missing frame.
perfusion_case difficult_voxels(frame_times times = frame_times::even);

/// Expected status of voxel i of difficult_voxels().
std::uint8_t expected_status(std::size_t voxel);

/// The standard settings, except that a fit with derivatives continues until rounding ends it, not a tolerance.
perfusion::fit_settings quality_settings(perfusion::solver_kind solver,
                                         perfusion::precision_kind precision = perfusion::precision_kind::float64);

/// Where a bounded fit ended, the reference's own descent reduces the cost by at most `excess`. The paper's cost has
/// kinks at delays of complete frames, where a method with derivatives may get stuck; how many voxels do is a property
/// of the test, and their cost is not checked.
void expect_minima(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run, double excess);

/// The simplex needs as many iterations as the reference's and ends at the same point, in all other voxels except 1.5
/// %: at a near tie the last digit can change a voxel's path.
void expect_simplex_of_reference(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run);

/// The same parameters as the reference's linear least squares, with or without the rules' bounds.
void expect_linear_of_reference(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run);

/// Runs a batch on a device and checks all of the above that its solver guarantees.
void expect_equivalent_to_reference(const device& d, const perfusion::fit_settings& s,
                                    frame_times times = frame_times::even);

/// All valid combinations of solvers, convolutions, discretisations, precisions and kinds of frames, by name.
struct fit_variant {
  const char* name;
  perfusion::fit_settings settings;
  frame_times times;
};
std::vector<fit_variant> every_way_to_fit();

}  // namespace voxherd::reference
