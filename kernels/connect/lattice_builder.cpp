#include "kernels/connect/lattice_builder.hpp"

#include <stdexcept>

#include "kernels/connect/reach.hpp"
#include "kernels/connect/stencil_maker.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

namespace {

void check(const speed_field& field) {
  const std::uint64_t voxels = field.size[0] * field.size[1] * field.size[2];
  if (voxels == 0 || voxels > std::uint64_t{1} << 28)
    throw std::invalid_argument("connect: expected an image of 1 to 2^28 voxels");
  if (field.inside.size() != voxels || !(field.tensors.empty() || field.tensors.size() == 8 * voxels))
    throw std::invalid_argument("connect: the arrays do not have the image's number of voxels");
}

/// Numbers the blocks with a voxel in the mask, x fastest, and assigns a cell to each voxel in the mask.
void number_cells(const speed_field& field, lattice& l) {
  std::size_t n[3], count = 1;
  for (int d = 0; d < 3; ++d) {
    l.size[d] = static_cast<int>(field.size[static_cast<std::size_t>(d)]);
    n[d] = (field.size[static_cast<std::size_t>(d)] + block_side - 1) / block_side;
    count *= n[d];
  }
  const auto find_block = [&](std::size_t x, std::size_t y, std::size_t z) {
    return (z / block_side * n[1] + y / block_side) * n[0] + x / block_side;
  };
  std::vector<std::int32_t> number(count, -1);
  const auto each_inside = [&](auto work) {
    std::size_t v = 0;
    for (std::size_t z = 0; z < field.size[2]; ++z)
      for (std::size_t y = 0; y < field.size[1]; ++y)
        for (std::size_t x = 0; x < field.size[0]; ++x, ++v)
          if (field.inside[v] != 0) work(v, x, y, z);
  };
  each_inside([&](std::size_t, std::size_t x, std::size_t y, std::size_t z) { number[find_block(x, y, z)] = 0; });
  for (std::int32_t& b : number)
    if (b == 0) b = static_cast<std::int32_t>(l.blocks++);
  if (l.blocks == 0) throw std::invalid_argument("connect: the mask is empty");
  l.cell_of.assign(field.inside.size(), -1);
  l.find_voxel.assign(l.cells(), -1);
  each_inside([&](std::size_t v, std::size_t x, std::size_t y, std::size_t z) {
    const auto cell = static_cast<std::int32_t>(std::size_t(number[find_block(x, y, z)]) * block_cells + x % 4 +
                                                4 * (y % 4) + 16 * (z % 4));
    l.cell_of[v] = cell;
    l.find_voxel[static_cast<std::size_t>(cell)] = static_cast<std::int32_t>(v);
    l.cell_of_number.push_back(static_cast<std::uint32_t>(cell));
  });
}

}  // namespace

lattice_view lattice::view() const {
  return {{size[0], size[1], size[2]},
          blocks,
          cell_of.data(),
          find_voxel.data(),
          tensor.data(),
          weight.data(),
          offset.data(),
          open.data()};
}

lattice number_voxels(const speed_field& field) {
  check(field);
  lattice l;
  number_cells(field, l);
  return l;
}

void set_speeds(lattice& l, const float* tensors, int threads) {
  l.tensor.resize(selling_directions * l.cells());
  l.weight.resize(l.tensor.size());
  l.offset.resize(l.tensor.size());
  l.open.resize(l.cells());
  each_on_cpu(threads, static_cast<std::uint32_t>(l.cells()),
              stencil_maker{l.view(), tensors, l.tensor.data(), l.weight.data(), l.offset.data(), l.open.data()});
}

lattice build_lattice(const speed_field& field, int threads) {
  lattice l = number_voxels(field);
  if (field.tensors.empty()) throw std::invalid_argument("connect: expected tensors");
  set_speeds(l, field.tensors.data(), threads);
  return l;
}

namespace {

/// One cell of each part, if possible one that is not walled in.
std::vector<std::uint32_t> cell_of_each_part(const face_parts& parts, const std::vector<std::uint8_t>& walled_in) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t p = 0; p < parts.parts(); ++p) chosen.push_back(chosen_cell(parts.view(), p, walled_in.data()));
  return chosen;
}

/// Sweeps over the cells forwards and backwards until `visit` returns false for all of them (nothing changed).
template <class Visit>
void sweep(const lattice& l, const Visit& visit) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t c : l.cell_of_number) changed = visit(c) || changed;
    for (auto c = l.cell_of_number.rbegin(); c != l.cell_of_number.rend(); ++c) changed = visit(*c) || changed;
  }
}

}  // namespace

face_parts find_face_parts(const lattice& l) {
  const lattice_view view = l.view();
  face_parts parts;
  std::vector<std::uint8_t> seen(l.cells());
  for (const std::uint32_t first : l.cell_of_number) {
    if (seen[first] != 0) continue;
    const std::size_t begin = parts.cell.size();
    parts.cell.push_back(first);
    seen[first] = 1;
    for (std::size_t n = begin; n < parts.cell.size(); ++n) {
      const std::uint32_t cell = parts.cell[n];  // the list may move
      each_face_neighbour(view, cell, [&](std::uint32_t near) {
        if (seen[near] == 0) parts.cell.push_back(near);
        seen[near] = 1;
      });
    }
    parts.offset.push_back(parts.cell.size());
  }
  return parts;
}

std::vector<std::uint8_t> cells_that_need_nets(const lattice& l) {
  const lattice_view view = l.view();
  std::vector<std::uint8_t> walled_in(l.cells());
  bool any = false;
  for (const std::uint32_t c : l.cell_of_number) {
    walled_in[c] = is_walled_in(view, c) ? 1 : 0;
    any = any || walled_in[c] != 0;
  }
  if (!any) return {};

  std::vector<std::uint8_t> reached(l.cells()), reaches(l.cells()), needs(l.cells());
  for (const std::uint32_t c : cell_of_each_part(find_face_parts(l), walled_in)) reached[c] = reaches[c] = 1;
  sweep(l, [&](std::uint32_t c) { return pull_reached(view, c, reached.data()); });
  sweep(l, [&](std::uint32_t c) { return push_reaches(view, c, reaches.data()); });

  any = false;
  for (const std::uint32_t c : l.cell_of_number) any = mark_net(view, c, reached[c], reaches[c], needs.data()) || any;
  return any ? needs : std::vector<std::uint8_t>{};
}

}  // namespace voxherd::connect
