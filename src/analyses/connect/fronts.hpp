#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/failure.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/connect/fronts.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// A part of an image.
struct image_box {
  std::array<std::uint64_t, 3> first{}, size{};
};

/// The part that contains all voxels inside. It starts at the start of a solver block, so that its blocks are the same.
/// The complete image if no voxel is inside.
image_box bounding_box(const std::vector<std::uint8_t>& inside, const std::array<std::uint64_t, 3>& size);

/// (nz, ny, nx, numbers) of the box.
template <class T>
std::vector<T> cropped(const std::vector<T>& values, const std::array<std::uint64_t, 3>& size, const image_box& box,
                       std::size_t numbers = 1) {
  std::vector<T> part;
  part.reserve(box.size[0] * box.size[1] * box.size[2] * numbers);
  for (std::uint64_t z = 0; z < box.size[2]; ++z)
    for (std::uint64_t y = 0; y < box.size[1]; ++y) {
      const std::uint64_t from = ((box.first[2] + z) * size[1] + box.first[1] + y) * size[0] + box.first[0];
      const T* row = values.data() + from * numbers;
      part.insert(part.end(), row, row + box.size[0] * numbers);
    }
  return part;
}

/// The grid of the box, at the same position in world coordinates; without its arrays.
tensor_field::tensor_image grid_of(const tensor_field::tensor_image& image, const image_box& box);

/// The part of the image that has tensors. Voxels keep their numbers.
struct front_grid {
  image_box box;                     ///< in the image
  tensor_field::tensor_image part;   ///< the grid and where there are tensors; no tensors
  std::vector<std::uint8_t> inside;  ///< (nz, ny, nx): where fronts may pass

  connect::speed_field view(std::span<const float> tensors = {}) const {
    return {part.size, part.axes_mm, part.origin_mm, tensors, inside};
  }
};

front_grid make_front_grid(const connect_inputs& inputs);

/// What fronts spread through, and where they start; the same on every rank.
struct front_field {
  front_grid grid;
  std::vector<float> tensors;  ///< (nz, ny, nx, 8) of connect::speed_field
  /// A solver's arrival times times this are in the unit of the metric.
  double cost_scale = 1;
  connect::start_list starts;  ///< a front for each region; none for a region without voxels
  double seconds = 0;          ///< preparation on the device

  connect::speed_field view() const { return grid.view(tensors); }
};

/// S from the tensors, on this rank's device, and the starts. Collective. After it tensors that had to be repaired have
/// been warned about.
front_field prepare_fronts(const session& s, const connect_inputs& inputs, const device& d);

/// The same with speeds that do not depend on the direction: those of --max-ratio 1. Collective.
front_field prepare_isotropic_fronts(const session& s, const connect_inputs& inputs, const device& d);

/// S from the tensors, on the calling thread's device. Throws device_error.
front_field make_front_field(const connect_inputs& inputs, const device& d, std::uint64_t& repaired);

/// A front for each of the regions. `tensor_of`: S of a voxel of the grid by its linear index.
connect::start_list find_starts(const connect_inputs& inputs, const front_grid& grid,
                                const std::function<std::array<float, 6>(std::size_t)>& tensor_of);

/// Those of some fronts, in their order.
connect::start_list select_starts(const connect::start_list& all, std::span<const std::uint32_t> fronts);

/// Solves for the fronts [first, first + count), then calls use(first, count): once for all of them, or for halves if
/// they do not fit in device memory. Throws device_error, failure (internal_error): not converged.
template <class Use>
void solve_fronts(connect::solver& solver, const connect::start_list& all, std::size_t first, std::size_t count,
                  const Use& use) {
  try {
    std::vector<std::uint32_t> fronts(count);
    std::iota(fronts.begin(), fronts.end(), static_cast<std::uint32_t>(first));
    const connect::solve_report report = solver.solve(select_starts(all, fronts));
    if (!report.converged)
      throw failure(exit_status::internal_error, fmt::format("arrival times have not converged after {} rounds; give a "
                                                             "larger --tolerance",
                                                             report.rounds));
  } catch (const device_out_of_memory&) {
    if (count == 1) throw;
    solve_fronts(solver, all, first, count / 2, use);
    solve_fronts(solver, all, first + count / 2, count - count / 2, use);
    return;
  }
  use(first, count);
}

}  // namespace voxherd
