#pragma once

#include <vector>

#include "kernels/geodesic/tracker.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"

namespace voxherd::reference {

/// The voxel facts of kernels/tensor_field/field.hpp, in double, for the metric `inverse`.
struct reference_facts {
  sampling_grid grid;
  std::vector<double> FA, speed;  ///< speed: root of the tensor's largest eigenvalue
  std::vector<std::uint32_t> regions;

  std::size_t voxel_number(const voxel_index& v) const;
};

/// `regions` empty: inside everywhere.
reference_facts reference_voxel_facts(const tensor_field::tensor_image& image,
                                      const std::vector<std::uint32_t>& regions);

/// Outcome of a fibre, as in geodesic::fibre_scores.
struct reference_fibre {
  geodesic::verdict verdict = geodesic::verdict::accepted;
  geodesic::stop_reason stops[2] = {geodesic::stop_reason::none, geodesic::stop_reason::none};
  std::uint32_t regions[2] = {0, 0}, steps[2] = {0, 0};
  double measure = 0, length_mm = 0, metric_length = 0, relative = 0, weakest = 1, mean_FA = 0, drift = 0;
  std::vector<vec3> places;  ///< after every step that counts, from the end of the -u ray to that of the +u ray
};

/// Integrates one fibre by the rules of kernels/geodesic/{settings,tracker}.hpp, from a world direction u of any
/// length, without the stop `loop`. A step belongs to the fibre unless it ends outside the volume, mask or FA cutoff,
/// turns too sharply, or starts with too much drift. Targets and inclusion regions also count outside the mask, for the
/// step that leaves it.
reference_fibre score_fibre(const field_reader& field, const reference_facts& facts, const vec3& seed_voxel,
                            const vec3& u, const geodesic::ray_settings& settings);

}  // namespace voxherd::reference
