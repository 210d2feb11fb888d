#pragma once

#include "kernels/tensor_field/field.hpp"

namespace voxherd::reference {

/// sym(G x G) with G = D^-1 of every voxel of an image, (s/mm2)^2; NaN where D is not positive definite.
std::vector<float> norms_of_tensors(const tensor_field::tensor_image& image);

/// Test bodies for every backend.
void expect_quartic_field_of_tensors_to_be_their_metric(const device& d, tensor_field::metric_kind metric);
void expect_quartic_coefficients_equivalent_to_reference(const device& d);

}  // namespace voxherd::reference
