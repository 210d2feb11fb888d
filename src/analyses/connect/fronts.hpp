#pragma once

#include "kernels/connect/solver.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// What fronts spread through, and where they start; the same on every rank. The part of the image that has tensors:
/// voxels keep their numbers.
struct front_field {
  std::array<std::uint64_t, 3> size{};
  std::array<double, 9> axes_mm{};
  std::array<double, 3> origin_mm{};
  std::array<std::uint64_t, 3> first_voxel{};  ///< of the image, where this part starts
  std::vector<float> tensors;                  ///< (nz, ny, nx, 8) of connect::speed_field
  std::vector<std::uint8_t> inside;            ///< (nz, ny, nx)
  /// A solver's arrival times times this are in the unit of the metric.
  double cost_scale = 1;
  connect::start_list starts;  ///< a front for each region; none for a region without voxels
  double seconds = 0;          ///< preparation on the device

  connect::speed_field view() const { return {size, axes_mm, origin_mm, tensors, inside}; }
};

/// S from the tensors, on this rank's device, and the starts. Collective. After it tensors that had to be repaired have
/// been warned about.
front_field prepare_fronts(const session& s, const connect_inputs& inputs, const device& d);

/// S from other tensors of the same study (a bootstrap replicate), on the calling thread's device; with the same
/// starts, those about a point found anew. Throws device_error.
front_field make_front_field(const connect_inputs& inputs, const tensor_field::tensor_image& image, const device& d,
                             std::uint64_t& repaired);

/// A front for each of the regions.
connect::start_list find_starts(const connect_inputs& inputs, const front_field& field);

/// Those of some fronts, in their order.
connect::start_list select_starts(const connect::start_list& all, std::span<const std::uint32_t> fronts);

}  // namespace voxherd
