#include <gtest/gtest.h>

#include "tests/support/gpu_test.hpp"
#include "tests/tensor/reference/bootstrap_case.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class TensorBootstrapCuda : public gpu_test {};

TEST_F(TensorBootstrapCuda, ReplicatesAreEquivalentToReference) {
  expect_replicates_equivalent_to_reference(gpu, {tensor_weighting::iterated, 2, false});
  expect_replicates_equivalent_to_reference(gpu, {tensor_weighting::weighted, 2, false});
  expect_replicates_equivalent_to_reference(gpu, {tensor_weighting::ordinary, 2, false});
}

TEST_F(TensorBootstrapCuda, ReplicatesWithGradientDeviationAreEquivalentToReference) {
  expect_replicates_equivalent_to_reference(gpu, {tensor_weighting::iterated, 2, true});
}

TEST_F(TensorBootstrapCuda, AVoxelsReplicateDoesNotDependOnOtherVoxels) {
  expect_replicates_independent_of_company(gpu);
}

TEST_F(TensorBootstrapCuda, SpreadOfReplicatesIsThatOfRepeatedNoise) {
  expect_spread_of_repeated_noise(gpu, {tensor_weighting::iterated, 2, false});
}

}  // namespace
