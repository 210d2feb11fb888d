#pragma once

#include <cstdint>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/neighbour.hpp"

/// Which cells fronts can enter and leave along the directions that the mask leaves open. Flags are one byte per cell.
namespace voxherd::connect {

/// Whether some significant direction is closed on both sides.
VOXHERD_FUNCTION inline bool is_walled_in(const lattice_view& l, std::uint32_t cell) {
  constexpr float matters = 1e-3f;
  const float trace = trace_of(l, cell);
  for (int i = 0; i < selling_directions; ++i)
    if ((l.open[cell] >> (2 * i) & 3) == 0 &&
        l.weight[lattice_view::plane(cell, selling_directions, i)] > matters * trace)
      return true;
  return false;
}

template <class Use>
VOXHERD_FUNCTION void each_face_neighbour(const lattice_view& l, std::uint32_t cell, const Use& use) {
  int at[3];
  voxel_place(l, l.find_voxel[cell], at);
  for (int d = 0; d < 3; ++d)
    for (int step = -1; step <= 1; step += 2) {
      int position[3] = {at[0], at[1], at[2]};
      position[d] += step;
      const std::int32_t near = l.cell_at(position[0], position[1], position[2]);
      if (near >= 0) use(static_cast<std::uint32_t>(near));
    }
}

/// Calls `use` for the cells on which a cell's arrival time depends.
template <class Use>
VOXHERD_FUNCTION void each_source(const lattice_view& l, std::uint32_t cell, const Use& use) {
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

/// A cell of the part, if possible one of its second half that is not walled in.
VOXHERD_FUNCTION inline std::uint32_t chosen_cell(const face_parts_view& parts, std::size_t part,
                                                  const std::uint8_t* walled_in) {
  const std::uint64_t first = parts.offset[part], end = parts.offset[part + 1], middle = first + (end - first) / 2;
  for (std::uint64_t n = middle; n < end; ++n)
    if (walled_in[parts.cell[n]] == 0) return parts.cell[n];
  return parts.cell[middle];
}

/// Marks the cell if one of its sources is marked in `reached`; whether that is new.
VOXHERD_FUNCTION inline bool pull_reached(const lattice_view& l, std::uint32_t cell, std::uint8_t* reached) {
  if (reached[cell] != 0) return false;
  bool now = false;
  each_source(l, cell, [&](std::uint32_t from) { now = now || reached[from] != 0; });
  if (now) reached[cell] = 1;
  return now;
}

/// Marks the sources of a cell that is marked in `reaches`, once; whether one of them is new. Marks are 1, and 2 for a
/// cell whose sources are marked.
VOXHERD_FUNCTION inline bool push_reaches(const lattice_view& l, std::uint32_t cell, std::uint8_t* reaches) {
  if (reaches[cell] != 1) return false;
  bool changed = false;
  each_source(l, cell, [&](std::uint32_t from) {
    if (reaches[from] != 0) return;
    reaches[from] = 1;
    changed = true;
  });
  reaches[cell] = 2;
  return changed;
}

/// Marks the cells that need a net because of this one: itself if it is not reached, its neighbours if it reaches none.
VOXHERD_FUNCTION inline bool mark_net(const lattice_view& l, std::uint32_t cell, std::uint8_t reached,
                                      std::uint8_t reaches, std::uint8_t* needs) {
  if (reached == 0) needs[cell] = 1;
  if (reaches == 0) each_face_neighbour(l, cell, [&](std::uint32_t near) { needs[near] = 1; });
  return reached == 0 || reaches == 0;
}

}  // namespace voxherd::connect
