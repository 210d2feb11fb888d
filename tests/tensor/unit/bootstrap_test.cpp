#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/bootstrap_fitter.hpp"
#include "tests/support/devices.hpp"
#include "tests/tensor/reference/bootstrap_case.hpp"
#include "tests/tensor/reference/tensor_case.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

TEST(TensorBootstrapCpu, ReplicatesAreEquivalentToReference) {
  expect_replicates_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 2, false});
  expect_replicates_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 0, false});
  expect_replicates_equivalent_to_reference(two_threads, {tensor_weighting::weighted, 2, false});
  expect_replicates_equivalent_to_reference(two_threads, {tensor_weighting::ordinary, 2, false});
}

TEST(TensorBootstrapCpu, ReplicatesWithGradientDeviationAreEquivalentToReference) {
  expect_replicates_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 2, true});
}

TEST(TensorBootstrapCpu, AVoxelsReplicateDoesNotDependOnOtherVoxels) {
  expect_replicates_independent_of_company(two_threads);
}

TEST(TensorBootstrapCpu, SpreadOfReplicatesIsThatOfRepeatedNoise) {
  expect_spread_of_repeated_noise(two_threads, {tensor_weighting::iterated, 2, false});
}

TEST(TensorBootstrapCpu, RejectsRowsOfAnotherSize) {
  const gradient_table g = two_shells();
  const std::vector<std::uint64_t> voxels(3);
  const std::vector<float> rows(3 * g.size() + 1);
  EXPECT_THROW(make_tensor_bootstrap(two_threads, g, {}, voxels, rows), std::invalid_argument);
}

/// +1 or -1 of measurement k.
double sign(std::uint64_t seed, std::uint64_t voxel, std::uint64_t replicate, std::size_t k) {
  return is_turned(draw_signs(seed, voxel, replicate, k / signs_per_draw), k) != 0 ? -1 : 1;
}

TEST(BootstrapSigns, AreFairAndIndependent) {
  // Sums of n independent signs have a standard deviation of sqrt(n); five of them are exceeded once in two million.
  double sum = 0, replicates = 0, voxels = 0, measurements = 0, seeds = 0;
  int n = 0;
  for (std::uint64_t voxel = 0; voxel < 40; ++voxel)
    for (std::uint64_t replicate = 1; replicate <= 40; ++replicate)
      for (std::size_t k = 0; k < 300; ++k, ++n) {
        const double s = sign(1, voxel, replicate, k);
        sum += s;
        replicates += s * sign(1, voxel, replicate + 1, k);
        voxels += s * sign(1, voxel + 1, replicate, k);
        measurements += s * sign(1, voxel, replicate, k + 1) + s * sign(1, voxel, replicate, k + 128);
        seeds += s * sign(2, voxel, replicate, k);
      }
  for (const double each : {sum, replicates, voxels, measurements / std::sqrt(2.0), seeds})
    EXPECT_LT(std::fabs(each), 5 * std::sqrt(n));
}

}  // namespace
