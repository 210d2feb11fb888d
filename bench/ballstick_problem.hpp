#pragma once

#include <vector>

#include "bench/program.hpp"
#include "kernels/ballstick/ballstick.hpp"
#include "kernels/phantom/phantom_signals.hpp"

namespace voxherd::bench {

struct ballstick_case {
  std::size_t measurements = 64;
  ballstick::settings settings;
  std::size_t voxels = 192;
};

/// A case's settings reduced to the minimum of a run: the least-squares fit, one jump and its sample.
ballstick_case fit_only_case(ballstick_case c);

/// Ball-and-stick estimation as in the program, from signals in host memory to results in host memory (for a GPU:
/// page-locked, copies included). A quarter of the voxels each has one fibre, two crossing at 90 degrees, two at 60,
/// and three; d is 0.8e-3 to 1.2e-3 mm2/s, the signal-to-noise ratio 30.
class ballstick_problem final : public problem {
 public:
  ballstick_problem(const device& d, const ballstick_case& c);

  void run() override;

  /// Every voxel is fitted; median errors: S0 below 2 % (with one fibre fitted: in voxels with one), the first fibre's
  /// direction below 4 degrees and its fraction below 0.03. The latter two are checked for voxels with as many fibres
  /// as are fitted, or fewer if a chain with its relevance prior follows the fit: with least squares only, superfluous
  /// fibres share the noise and the signal of the first one.
  std::string find_error() const override;

  std::size_t voxels() const override { return case_.voxels; }

 private:
  void allocate_results();
  bool is_checked(const tissue& t) const;

  device device_;
  ballstick_case case_;
  std::vector<tissue> truth_;
  std::vector<std::uint64_t> voxel_numbers_;
  host_buffer rows_;
  std::vector<host_buffer> memory_;
  ballstick::result_arrays results_;
  std::unique_ptr<ballstick::estimator> estimator_;
};

}  // namespace voxherd::bench
