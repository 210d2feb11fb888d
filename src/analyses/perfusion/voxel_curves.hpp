#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// The curve of one voxel, in the unit of the input curves.
struct voxel_curve {
  std::vector<double> concentration;  ///< at each frame; not a number where the frame is not fitted
  std::vector<double> fit;            ///< the model with the result's parameters; empty if they are not in the result
  double sum_of_squares = 0;          ///< sum of the squares of their differences, over the fitted frames
};

/// What the voxels of a finished fit looked like: reads the series again, and computes concentrations and fit with the
/// functions of the fit. By one process.
class voxel_curves {
 public:
  /// Throws failure (missing_input, bad_data) if the series no longer exists, has changed, or cannot be found again.
  /// `r` must outlive this.
  explicit voxel_curves(const result_reader& r);
  ~voxel_curves();

  const perfusion::time_course& frames() const;
  const std::string& unit() const;  ///< unit of concentrations: mM, HU, or "input"

  /// The curves of voxels in any order.
  std::vector<voxel_curve> read(const std::vector<std::uint64_t>& voxels);
  /// The curve of one voxel, for callers that ask for one voxel after the other.
  voxel_curve look_at(std::uint64_t voxel);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
