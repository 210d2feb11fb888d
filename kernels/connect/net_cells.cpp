#include "kernels/connect/net_cells.hpp"

#include <algorithm>

#include "kernels/connect/neighbour.hpp"

namespace voxherd::connect {

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
