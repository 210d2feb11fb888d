#include "src/fsl/probtrackx2_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/failure.hpp"
#include "core/step_outputs.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// A matrix whose columns are all voxels that streamlines can reach. It has no file.
seed_matrix make_reached_columns(int number, const track_inputs& in) {
  seed_matrix m{number, "", in.space.grid, in.place_voxels, {}};
  std::sort(m.voxels.begin(), m.voxels.end());
  number_columns(m, in);
  return m;
}

void refuse_surface_targets(const track_inputs& in) {
  for (const track::surface_use& use : in.surfaces.input().uses)
    if (use.first_target != use.end_target)
      refuse_usage("--otargetpaths: the target {} is a surface, expected images only",
                   in.target_names[in.surfaces.input().targets[use.first_target]]);
}

}  // namespace

seed_matrix make_seed_densities(const session& s, const std::string& file, const track_inputs& in) {
  seed_matrix m = make_reached_columns(2, in);
  m.file = file;
  m.kept = std::make_shared<kept_rows>(kept_list_bytes(s));
  return m;
}

pair_matrix make_target_densities(const session& s, const std::string& file, const track_inputs& in) {
  refuse_surface_targets(in);
  pair_matrix m;
  m.kept = std::make_shared<kept_pairs>(kept_list_bytes(s));
  m.option = "--otargetpaths", m.step = "target-pair", m.result = "target_paths";
  m.rows = {3, file, in.space.grid, {}, std::vector<std::int32_t>(in.voxels.size(), -1), 0, true};
  m.rows.voxels.assign(in.target_names.size(), 0);
  for (std::size_t place = 0; place < in.place_voxels.size(); ++place) {
    const std::uint32_t first = in.target_begin[place], count = in.target_begin[place + 1] - first;
    if (count > 1)
      refuse_data("--otargetpaths: the targets {} and {} overlap; run the command for each",
                  in.target_names[in.targets[first]], in.target_names[in.targets[first + 1]]);
    if (count == 0) continue;
    const std::uint64_t voxel = in.place_voxels[place];
    m.rows.column[voxel] = static_cast<std::int32_t>(in.targets[first]);
    m.rows.voxels[in.targets[first]] = voxel;  // one of them
  }
  m.columns = make_reached_columns(3, in);
  return m;
}

label_image read_voxel_list(const std::string& path, const fsl_grid& grid) {
  const number_table t = read_number_table(path);
  const bool by_line = t.columns == 3;
  if (!by_line && t.rows != 3)
    refuse_data("{}: has {} numbers per line, expected the voxels of seeds: x y z", t.name, t.columns);
  label_image mask{path, std::vector<std::int32_t>(grid.voxel_count()), {1}, {}};
  for (std::size_t i = 0; i < (by_line ? t.rows : t.columns); ++i) {
    vector3 voxel{};
    for (std::size_t d = 0; d < 3; ++d) {
      voxel[d] = by_line ? t.at(i, d) : t.at(d, i);
      if (!(voxel[d] >= 0 && voxel[d] < static_cast<double>(grid.size[d])) || voxel[d] != std::floor(voxel[d]))
        refuse_data("{}: seed {} has {} along axis {}, expected a whole number from 0 to {}", t.name, i + 1, voxel[d],
                    d + 1, grid.size[d] - 1);
    }
    mask.label[grid.turned(*find_voxel(grid, voxel))] = 1;
  }
  return mask;
}

}  // namespace voxherd
