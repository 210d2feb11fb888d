#pragma once

#include <memory>
#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

/// Work that perfusion_convolution_bench times on a GPU.
namespace voxherd::bench {

enum class convolution_method { block_fft, cufft, direct, recursion };

/// C_i = sum_{j <= i} x_j exp(-kl T (i - j)) for each of many curves.
struct convolution_curves {
  int frames;
  std::vector<double> series;  ///< x: [curve][frame]
  std::vector<double> kl_T;    ///< [curve]
  std::size_t count() const { return kl_T.size(); }
};

/// Costs of many voxels, each for `repeats` trials: p, and p with kl increased by a thousandth each time.
struct cost_voxels {
  perfusion::time_course course;
  std::vector<double> p;       ///< [voxel][parameter]
  std::vector<float> samples;  ///< [voxel][frame]
  int repeats;
  std::size_t count() const { return p.size() / perfusion::dual_parameters; }
};

/// Work whose inputs and results are in the memory of the current GPU.
class gpu_work {
 public:
  virtual ~gpu_work() = default;
  /// Throws device_error.
  virtual void run() = 0;
  /// Time of the last run's kernels, by the GPU's clock.
  virtual double device_seconds() const = 0;
  virtual std::vector<double> results() const = 0;
};

/// Results: [curve][frame]. Every method has its inputs in a suitable layout: rows for one block per curve, columns for
/// one thread per curve, rows padded with zeros for cuFFT, whose plans are created here.
std::unique_ptr<gpu_work> make_gpu_convolutions(convolution_method method, const convolution_curves& curves);

/// Results: [voxel], the sum of a voxel's costs. Not with cuFFT.
std::unique_ptr<gpu_work> make_gpu_costs(convolution_method method, const cost_voxels& voxels);

}  // namespace voxherd::bench
