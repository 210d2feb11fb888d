#include "kernels/connect/lattice_builder.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/connect/neighbour.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

namespace {

/// Directions with less than this fraction of the trace are left out: they change S by less than its rounding error.
constexpr double min_weight = 1e-9;
constexpr int longest_offset = 127;

void check(const speed_field& field) {
  const std::uint64_t voxels = field.size[0] * field.size[1] * field.size[2];
  if (voxels == 0 || voxels > std::uint64_t{1} << 28)
    throw std::invalid_argument("connect: expected an image of 1 to 2^28 voxels");
  if (field.inside.size() != voxels || field.tensors.size() != 8 * voxels)
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

/// Computes the tensor, weights, offsets and open directions of one cell.
struct stencil_maker {
  lattice_view l;
  const float* tensors;
  float *tensor, *weight;
  std::int32_t* offset;
  std::uint32_t* open;

  VOXHERD_FUNCTION void operator()(std::uint32_t cell) const {
    const std::int32_t voxel = l.find_voxel[cell];
    for (int n = 0; n < selling_directions; ++n) {
      const std::size_t at = lattice_view::plane(cell, selling_directions, n);
      tensor[at] = voxel < 0 ? 0 : tensors[std::size_t{8} * static_cast<unsigned>(voxel) + static_cast<unsigned>(n)];
      weight[at] = 0;
      offset[at] = 0;
    }
    open[cell] = 0;
    if (voxel >= 0) decompose_cell(cell, voxel);
  }

 private:
  VOXHERD_FUNCTION void decompose_cell(std::uint32_t cell, std::int32_t voxel) const {
    const int x = voxel % l.size[0], y = voxel / l.size[0] % l.size[1], z = voxel / l.size[0] / l.size[1];
    double s[6];
    for (int n = 0; n < 6; ++n) s[n] = tensor[lattice_view::plane(cell, selling_directions, n)];
    const selling_decomposition d = decompose(s);
    const auto inside = [&](int a, int b, int c) { return l.cell_at(a, b, c) >= 0; };
    const step_rule may(inside);
    std::uint32_t bits = 0;
    for (int n = 0; n < selling_directions; ++n) {
      int e[3] = {d.offset[n][0], d.offset[n][1], d.offset[n][2]}, back[3] = {-e[0], -e[1], -e[2]};
      bool short_enough = true;
      for (const int part : e) short_enough = short_enough && std::abs(part) <= longest_offset;
      if (!short_enough || d.weight[n] < min_weight * (s[0] + s[3] + s[5])) continue;
      const std::size_t at = lattice_view::plane(cell, selling_directions, n);
      weight[at] = static_cast<float>(d.weight[n]);
      offset[at] = pack_offset(e);
      bits |= (may(x, y, z, e) ? 1u : 0u) << (2 * n) | (may(x, y, z, back) ? 2u : 0u) << (2 * n);
    }
    open[cell] = bits;
  }
};

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

lattice build_lattice(const speed_field& field, int threads) {
  check(field);
  lattice l;
  number_cells(field, l);
  l.tensor.resize(selling_directions * l.cells());
  l.weight.resize(l.tensor.size());
  l.offset.resize(l.tensor.size());
  l.open.resize(l.cells());
  each_on_cpu(
      threads, static_cast<std::uint32_t>(l.cells()),
      stencil_maker{l.view(), field.tensors.data(), l.tensor.data(), l.weight.data(), l.offset.data(), l.open.data()});
  return l;
}

namespace {

/// Whether some significant direction is closed on both sides.
bool is_walled_in(const lattice_view& l, std::uint32_t cell) {
  constexpr float matters = 1e-3f;
  float trace = 0;
  for (const int e : {0, 3, 5}) trace += l.tensor[lattice_view::plane(cell, selling_directions, e)];
  for (int i = 0; i < selling_directions; ++i)
    if ((l.open[cell] >> (2 * i) & 3) == 0 &&
        l.weight[lattice_view::plane(cell, selling_directions, i)] > matters * trace)
      return true;
  return false;
}

template <class Use>
void each_face_neighbour(const lattice_view& l, std::uint32_t cell, const Use& use) {
  int at[3];
  voxel_place(l, l.find_voxel[cell], at);
  for (int d = 0; d < 3; ++d)
    for (const int step : {-1, 1}) {
      int position[3] = {at[0], at[1], at[2]};
      position[d] += step;
      const std::int32_t near = l.cell_at(position[0], position[1], position[2]);
      if (near >= 0) use(static_cast<std::uint32_t>(near));
    }
}

/// Calls `use` for the cells on which a cell's arrival time depends.
template <class Use>
void each_source(const lattice_view& l, std::uint32_t cell, const Use& use) {
  int at[3];
  voxel_place(l, l.find_voxel[cell], at);
  for (int i = 0; i < selling_directions; ++i) {
    const std::uint32_t open = l.open[cell] >> (2 * i) & 3;
    if (open == 0) continue;
    int e[3];
    unpack_offset(l.offset[lattice_view::plane(cell, selling_directions, i)], e);
    if ((open & 1) != 0) use(static_cast<std::uint32_t>(l.cell_at(at[0] + e[0], at[1] + e[1], at[2] + e[2])));
    if ((open & 2) != 0) use(static_cast<std::uint32_t>(l.cell_at(at[0] - e[0], at[1] - e[1], at[2] - e[2])));
  }
}

/// One cell of each face-connected component, if possible one that is not walled in.
std::vector<std::uint32_t> cell_of_each_part(const lattice& l, const std::vector<std::uint8_t>& walled_in) {
  const lattice_view view = l.view();
  std::vector<std::uint8_t> seen(l.cells());
  std::vector<std::uint32_t> part, chosen;
  for (const std::uint32_t first : l.cell_of_number) {
    if (seen[first] != 0) continue;
    part.assign(1, first);
    seen[first] = 1;
    for (std::size_t n = 0; n < part.size(); ++n)
      each_face_neighbour(view, part[n], [&](std::uint32_t near) {
        if (seen[near] == 0) part.push_back(near);
        seen[near] = 1;
      });
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    const auto good = std::find_if(middle, part.end(), [&](std::uint32_t c) { return walled_in[c] == 0; });
    chosen.push_back(good != part.end() ? *good : *middle);
  }
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
  for (const std::uint32_t c : cell_of_each_part(l, walled_in)) reached[c] = reaches[c] = 1;
  sweep(l, [&](std::uint32_t c) {
    if (reached[c] != 0) return false;
    each_source(view, c, [&](std::uint32_t from) { reached[c] |= reached[from]; });
    return reached[c] != 0;
  });
  sweep(l, [&](std::uint32_t c) {
    bool changed = false;
    if (reaches[c] == 0) return false;
    each_source(view, c, [&](std::uint32_t from) {
      changed = changed || reaches[from] == 0;
      reaches[from] = 1;
    });
    return changed;
  });

  any = false;
  for (const std::uint32_t c : l.cell_of_number) {
    if (reached[c] == 0) needs[c] = 1;
    if (reaches[c] == 0) each_face_neighbour(view, c, [&](std::uint32_t near) { needs[near] = 1; });
    any = any || reached[c] == 0 || reaches[c] == 0;
  }
  return any ? needs : std::vector<std::uint8_t>{};
}

}  // namespace voxherd::connect
