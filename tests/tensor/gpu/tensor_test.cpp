#include <gtest/gtest.h>

#include "kernels/tensor/tensor_estimator.hpp"
#include "tests/support/gpu_test.hpp"
#include "tests/tensor/reference/tensor_case.hpp"

namespace {

using namespace voxherd;
using reference::expect_equivalent_to_reference;

class TensorCuda : public gpu_test {};

TEST_F(TensorCuda, OrdinaryFitIsEquivalentToReference) {
  expect_equivalent_to_reference(gpu, {tensor_weighting::ordinary, 2, false});
}

TEST_F(TensorCuda, WeightedFitIsEquivalentToReference) {
  expect_equivalent_to_reference(gpu, {tensor_weighting::weighted, 2, false});
}

TEST_F(TensorCuda, IteratedFitIsEquivalentToReference) {
  expect_equivalent_to_reference(gpu, {tensor_weighting::iterated, 2, false});
}

TEST_F(TensorCuda, FitWithGradientDeviationIsEquivalentToReference) {
  expect_equivalent_to_reference(gpu, {tensor_weighting::iterated, 2, true});
}

TEST_F(TensorCuda, RowsAndColumnsGiveTheSameBytes) {
  for (const bool deviation : {false, true}) reference::expect_same_bytes_in_both_layouts(gpu, deviation);
}

TEST_F(TensorCuda, FlagsNegativeMeanDiffusivityAndKeepsTheValues) { reference::expect_flags_negative_diffusivity(gpu); }

}  // namespace
