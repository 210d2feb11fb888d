#include "src/analyses/track/matrix.hpp"

#include <algorithm>
#include <cmath>

#include "src/analyses/track/matrix_rows.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

seed_matrix make_matrix1(const std::string& file, const track_inputs& in) {
  seed_matrix m{1, file, in.space.grid, {}, std::vector<std::int32_t>(in.voxels.size(), -1)};
  for (const track::seed& s : in.seeds) m.voxels.push_back(s.index);
  return m;
}

}  // namespace

seed_matrix make_mask_matrix(int number, const std::string& file, const std::string& mask) {
  seed_matrix m{number, file, read_nifti_header(mask).grid, {}, {}};
  m.voxels = read_labels(mask, m.grid, label_kind::mask).voxels_with({});
  return m;
}

void number_columns(seed_matrix& m) {
  m.column.assign(m.grid.voxel_count(), -1);
  for (std::size_t i = 0; i < m.voxels.size(); ++i) m.column[m.voxels[i]] = static_cast<std::int32_t>(i);
}

std::int32_t to_steps(double mm, const track_inputs& in) {
  return static_cast<std::int32_t>(std::ceil(mm / in.step_mm - 1e-4));
}

track::track_input make_matrix_view(const seed_matrix& matrix, const track_inputs& in) {
  track::track_input view = in.view();
  view.matrix = matrix.view(in.space);
  view.how.min_total = matrix.min_total;
  view.columns = 0;
  view.target_begin = {};
  view.targets = {};
  return view;
}

track::column_grid seed_matrix::view(const track_space& space) const {
  track::column_grid view;
  view.column = column.data();
  view.columns = static_cast<std::uint32_t>(voxels.size());
  view.square = number == 1;
  for (std::size_t d = 0; d < 3; ++d) view.size[d] = static_cast<std::int32_t>(grid.size[d]);
  view.to_voxel = (number == 1 ? space.to_seeds : product(space.to_seeds, map_by_world(space.grid, grid))).rounded();
  return view;
}

std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in) {
  std::vector<seed_matrix> all;
  if (!request.matrix1.empty()) {
    all.push_back(make_matrix1(request.matrix1, in));
    all.back().min_total = to_steps(request.matrix_min_length_mm, in);
  }
  if (!request.matrix2.empty())
    s.agree([&] {
      all.push_back(make_mask_matrix(2, request.matrix2, request.target2));
      in.provenance["target2"] = fingerprint(request.target2);
    });
  for (seed_matrix& m : all) number_columns(m);
  return all;
}

void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps) {
  const std::string name = "matrix" + std::to_string(matrix.number);
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  steps.run(
      name + "-sizes", [&, d] { return std::make_unique<matrix_sizes>(matrix, in, d); },
      [&s, offsets, name](const std::string& file, nlohmann::json& summary) {
        *offsets = read_sizes<std::uint32_t>(s, file);
        summary[name + "_entries"] = offsets->back();
      });
  steps.describe("row");
  steps.run_into(matrix.file, "track-matrix", name,
                 [&, d, offsets] { return std::make_unique<matrix_rows>(matrix, in, d, *offsets); });
  steps.describe("row");
}

}  // namespace voxherd
