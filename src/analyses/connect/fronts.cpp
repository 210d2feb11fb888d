#include "src/analyses/connect/fronts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "kernels/connect/lattice.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/tensor_file.hpp"

namespace voxherd {

namespace {

using tensor_reader = std::function<std::array<float, 6>(std::size_t)>;

std::vector<connect::start> starts_in(const connect_inputs& in, const front_grid& grid, const tensor_reader& tensor_of,
                                      std::size_t region) {
  const end_choice end = choose_end(in.options, region == 0 ? end_side::from : end_side::to);
  if (!in.options.is_connectome() && end.file.empty()) {
    auto index = grid_space(in.grid).to_index(end.point_mm);
    for (std::size_t axis = 0; axis < 3; ++axis) index[axis] -= static_cast<double>(grid.box.first[axis]);
    return starts_at_point(grid.view(), index, in.options.ball_voxels, tensor_of);
  }
  std::vector<connect::start> starts;
  for (std::uint64_t i = in.regions.offsets[region]; i < in.regions.offsets[region + 1]; ++i)
    starts.push_back({in.regions.voxels[i], 0});
  return starts;
}

front_field make_field_with(const connect_inputs& inputs, const tensor_field::preparation& how, const device& d,
                            std::uint64_t& repaired) {
  front_field f;
  f.grid = make_front_grid(inputs);
  tensor_field::tensor_image part = f.grid.part;
  part.tensor = cropped(inputs.image.tensor, inputs.image.size, f.grid.box, 6);
  const auto prepared = tensor_field::make_field(d, part, {}, how, tensor_field::field_kind::tensor, false);
  f.tensors = tensor_field::host_values(*prepared);
  f.cost_scale = std::sqrt(prepared->scale);
  f.seconds = prepared->seconds;
  repaired = prepared->repaired;
  f.starts = find_starts(inputs, f.grid, [&](std::size_t voxel) { return f.view().tensor_of(voxel); });
  return f;
}

}  // namespace

front_grid make_front_grid(const connect_inputs& inputs) {
  front_grid grid;
  grid.box = bounding_box(inputs.image.inside, inputs.image.size);
  grid.part = grid_of(inputs.image, grid.box);
  grid.part.inside = cropped(inputs.image.inside, inputs.image.size, grid.box);
  grid.inside = cropped(inputs.inside, inputs.image.size, grid.box);
  return grid;
}

front_field make_front_field(const connect_inputs& inputs, const device& d, std::uint64_t& repaired) {
  return make_field_with(inputs, inputs.options.how, d, repaired);
}

connect::start_list find_starts(const connect_inputs& inputs, const front_grid& grid, const tensor_reader& tensor_of) {
  connect::start_list list;
  for (std::size_t r = 0; r < inputs.regions.regions(); ++r) {
    const auto starts = starts_in(inputs, grid, tensor_of, r);
    list.starts.insert(list.starts.end(), starts.begin(), starts.end());
    list.offsets.push_back(list.starts.size());
  }
  return list;
}

front_field prepare_fronts(const session& s, const connect_inputs& inputs, const device& d) {
  front_field field;
  std::uint64_t repaired = 0;
  s.agree([&] {
    use_device(d);
    field = make_front_field(inputs, d, repaired);
  });
  warn_repaired(repaired, inputs.image, inputs.options.how.min_eigenvalue, "--max-ratio");
  return field;
}

front_field prepare_isotropic_fronts(const session& s, const connect_inputs& inputs, const device& d) {
  front_field field;
  tensor_field::preparation how = inputs.options.how;
  how.min_eigenvalue = tensor_field::min_eigenvalue(how.metric, how.alpha, 1);
  s.agree([&] {
    use_device(d);
    std::uint64_t repaired = 0;  // the same as in the other field, which has warned
    field = make_field_with(inputs, how, d, repaired);
  });
  return field;
}

connect::start_list select_starts(const connect::start_list& all, std::span<const std::uint32_t> fronts) {
  connect::start_list some;
  for (const std::uint32_t f : fronts) {
    some.starts.insert(some.starts.end(), all.starts.begin() + static_cast<std::ptrdiff_t>(all.offsets[f]),
                       all.starts.begin() + static_cast<std::ptrdiff_t>(all.offsets[f + 1]));
    some.offsets.push_back(some.starts.size());
  }
  return some;
}

image_box bounding_box(const std::vector<std::uint8_t>& inside, const std::array<std::uint64_t, 3>& size) {
  std::array<std::uint64_t, 3> low = size, high{};
  std::size_t v = 0;
  for (std::uint64_t z = 0; z < size[2]; ++z)
    for (std::uint64_t y = 0; y < size[1]; ++y)
      for (std::uint64_t x = 0; x < size[0]; ++x, ++v) {
        if (inside[v] == 0) continue;
        const std::array<std::uint64_t, 3> at{x, y, z};
        for (std::size_t d = 0; d < 3; ++d) {
          low[d] = std::min(low[d], at[d]);
          high[d] = std::max(high[d], at[d] + 1);
        }
      }
  if (high[0] == 0) return {{}, size};
  image_box box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.first[d] = low[d] / connect::block_side * connect::block_side;
    box.size[d] = high[d] - box.first[d];
  }
  return box;
}

tensor_field::tensor_image grid_of(const tensor_field::tensor_image& image, const image_box& box) {
  tensor_field::tensor_image part;
  part.size = box.size;
  part.axes_mm = image.axes_mm;
  part.origin_mm = image.origin_mm;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      part.origin_mm[i] += image.axes_mm[3 * i + d] * static_cast<double>(box.first[d]);
  return part;
}

}  // namespace voxherd
