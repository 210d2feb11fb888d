#pragma once

#include "tests/geodesic/reference/geodesic_field_reference.hpp"

namespace voxherd::reference {

/// Random tensors (eigenvalue ratios up to 30) in a mask with holes, on an oblique grid of anisotropic voxels; among
/// those inside: NaN, infinite, negative, indefinite, zero and nearly flat ones.
tensor_field::tensor_image uneven_tensors();

/// Region words for that image.
std::vector<std::uint32_t> uneven_regions(std::size_t voxels);

/// Test bodies for every backend.
void expect_field_equivalent_to_reference(const device& d, const tensor_field::preparation& how,
                                          tensor_field::field_kind kind);
void expect_coefficients_equivalent_to_reference(const device& d, tensor_field::field_kind kind);

}  // namespace voxherd::reference
