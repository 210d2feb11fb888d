#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device.hpp"
#include "kernels/portable/gradients.hpp"

namespace voxherd {

enum class tensor_weighting {
  ordinary,  ///< all log-signals alike
  weighted,  ///< by the squared measured signal, the inverse variance of its logarithm
  iterated,  ///< weighted, then again with the squared signal that the last fit predicts
};

struct tensor_settings {
  tensor_weighting weighting = tensor_weighting::iterated;
  int iterations = 2;               ///< further fits after the first; used by `iterated` alone
  bool gradient_deviation = false;  ///< rows end in nine more floats
};

/// Where a batch's results go: arrays of `count` rows.
struct tensor_outputs {
  float* tensor;         ///< 6 a voxel: xx, xy, xz, yy, yz, zz along the axes of the gradient table, mm2/s
  float* S0;             ///< fitted signal without weighting, unit of the input
  float *FA, *MD;        ///< 1, mm2/s. FA exceeds 1 where noise makes an eigenvalue negative
  float *AD, *RD;        ///< L1, (L2 + L3) / 2, mm2/s
  float *V1, *V2, *V3;   ///< 3 a voxel: unit eigenvectors of L1, L2, L3, sign arbitrary
  float *L1, *L2, *L3;   ///< eigenvalues, falling, mm2/s
  float* residual;       ///< root mean square of signal minus fitted signal, unit of the input
  std::uint8_t* status;  ///< voxel_status; all else is zero where it is not `fitted`
};

/// Fits diffusion tensors to batches of voxels on one device. Owns its scratch memory; used by one thread.
class tensor_solver {
 public:
  virtual ~tensor_solver() = default;

  /// `rows`: count x (K signals [+ 9 of the gradient deviation, column-wise]). A GPU too small for the batch gets it in
  /// halves. Throws device_error.
  virtual void fit(std::size_t count, const float* rows, const tensor_outputs& out) = 0;
};

/// After use_device(d). Throws device_error for a GPU without CUDA.
std::unique_ptr<tensor_solver> make_tensor_solver(const device& d, const gradient_table& gradients,
                                                  const tensor_settings& settings);

/// Device memory that one voxel of a batch takes.
std::size_t tensor_device_bytes_per_voxel(std::size_t measurements, bool gradient_deviation);

/// Whether the gradient table determines a tensor: at least six directions, not all on one cone or plane.
bool determines_tensor(const gradient_table& gradients);

}  // namespace voxherd
