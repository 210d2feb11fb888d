#include "src/analyses/track/matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/portable/output_rows.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/node_resources.hpp"

namespace voxherd {

namespace {

seed_matrix make_matrix1(const std::string& file, const track_inputs& in) {
  seed_matrix m{1, file, in.space.grid, {}, std::vector<std::int32_t>(in.voxels.size(), -1)};
  m.places = in.seed_places;
  for (std::size_t i = 0; i < in.seeds.size(); ++i)
    m.voxels.push_back(in.is_vertex(i) ? no_voxel : std::uint64_t{in.seeds[i].index});
  return m;
}

using row_outputs = matrix_outputs<element_type::uint32>;

/// Rows that this rank has drawn before, and draws the others.
class row_source {
 public:
  row_source(const seed_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix), in_(in), device_(d) {}

  std::vector<kept_rows::pointer> find(const batch& seeds) {
    std::vector<kept_rows::pointer> rows(seeds.item_count);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = matrix_.kept->find(seeds.first_item + i);
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first;
      while (end < rows.size() && rows[end] == nullptr) ++end;
      draw(seeds.first_item + first, std::span(rows).subspan(first, end - first));
      first = end + 1;
    }
    return rows;
  }
  void release_memory() {
    if (tracker_) tracker_->release_memory();
  }

 private:
  void draw(std::uint64_t first, std::span<kept_rows::pointer> rows) {
    if (rows.empty()) return;
    if (!tracker_) tracker_ = track::make_tracker(device_, make_matrix_view(matrix_, in_));
    track::sparse_rows drawn;
    tracker_->track_rows(first, rows.size(), drawn);
    std::vector<matrix_row> split = split_rows(drawn, matrix_.entries(in_));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = matrix_.kept->keep(first + i, std::move(split[i]));
  }

  const seed_matrix& matrix_;
  const track_inputs& in_;
  device device_;
  std::unique_ptr<track::tracker> tracker_;  ///< made when the first row has to be drawn
};

/// Items are seeds, the rows of the matrix; all streamlines of a seed are drawn at once.
class matrix_items : public analysis {
 public:
  matrix_items(const seed_matrix& matrix, const track_inputs& in, const device& d);

  const image_grid& grid() const override { return in_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::size_t device_bytes_per_item() const override;
  std::uint64_t max_items_per_batch() const override;

 protected:
  row_source make_rows() const;

  const seed_matrix& matrix_;
  const track_inputs& in_;

 private:
  device device_;
  std::vector<std::uint64_t> voxels_;
};

/// How many entries each row has.
class matrix_sizes final : public matrix_items {
 public:
  using matrix_items::matrix_items;
  std::string name() const override { return "track-matrix-sizes"; }
  std::vector<output_spec> outputs() const override { return output_specs<size_outputs>(); }
  std::unique_ptr<batch_runner> make_runner() const override;
};

/// The entries.
class matrix_rows final : public matrix_items {
 public:
  matrix_rows(const seed_matrix& matrix, const track_inputs& in, const device& d, std::vector<std::uint64_t> offsets)
      : matrix_items(matrix, in, d), offsets_(std::move(offsets)) {}
  std::string name() const override { return "track-matrix"; }
  std::vector<output_spec> outputs() const override { return output_specs<row_outputs>(matrix_.entries(in_)); }
  std::vector<constant> constants() const override { return matrix_constants(matrix_, in_.seed_places); }
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  std::vector<std::uint64_t> offsets_;
};

class row_size_runner final : public batch_runner {
 public:
  explicit row_size_runner(row_source rows) : rows_(std::move(rows)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const std::vector<kept_rows::pointer> rows = rows_.find(items);
    const auto out = arrays_in<size_outputs>(outputs);
    for (std::size_t i = 0; i < rows.size(); ++i) out.put<"entries">(i, rows[i]->column.size());
  }
  void release_memory() override { rows_.release_memory(); }

 private:
  row_source rows_;
};

class row_runner final : public batch_runner {
 public:
  row_runner(row_source rows, const seed_matrix& matrix, const track_inputs& in)
      : rows_(std::move(rows)), in_(in), chosen_(chosen_outputs<row_outputs>(matrix.entries(in))) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<row_outputs>(outputs, chosen_);
    std::size_t next = 0;
    for (const kept_rows::pointer& row : rows_.find(items)) {
      std::copy(row->column.begin(), row->column.end(), out.values<"column">() + next);
      std::copy(row->count.begin(), row->count.end(), out.values<"count">() + next);
      for (std::size_t i = 0; i < row->steps.size(); ++i)
        out.put<"length_sum">(next + i, static_cast<double>(row->steps[i]) * in_.step_mm);
      for (std::size_t i = 0; i < row->fibre1.size(); ++i) {
        out.put<"fibre1">(next + i, row->fibre1[i]);
        out.put<"fibre2">(next + i, row->fibre2[i]);
      }
      next += row->column.size();
    }
  }
  void release_memory() override { rows_.release_memory(); }

 private:
  row_source rows_;
  const track_inputs& in_;
  output_choice<row_outputs> chosen_;
};

matrix_items::matrix_items(const seed_matrix& matrix, const track_inputs& in, const device& d)
    : matrix_(matrix), in_(in), device_(d) {
  for (std::size_t i = 0; i < in.seeds.size(); ++i) voxels_.push_back(in.seed_voxel(i));
}

/// A row is dense while it is counted.
std::size_t matrix_items::device_bytes_per_item() const {
  return matrix_.cells() * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
}

/// Few rows for a batch, so that ranks share the work evenly, but enough streamlines for a GPU.
std::uint64_t matrix_items::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{1} << 30, streamlines = std::uint64_t{1} << 20;
  return std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1,
                                   std::max<std::uint64_t>(127, streamlines / in_.plan.per_seed));
}

row_source matrix_items::make_rows() const { return {matrix_, in_, device_}; }

std::unique_ptr<batch_runner> matrix_sizes::make_runner() const {
  return std::make_unique<row_size_runner>(make_rows());
}

std::unique_ptr<batch_runner> matrix_rows::make_runner() const {
  return std::make_unique<row_runner>(make_rows(), matrix_, in_);
}

/// Collects the sizes of the items whose batches this rank receives, in any order.
class size_collector {
 public:
  void add(const batch& items, std::span<const std::span<const std::byte>> outputs) {
    const auto entries = output_rows<size_outputs>(outputs).values<"entries">();
    for (std::uint64_t i = 0; i < items.item_count; ++i) own_.push_back({items.first_item + i, entries[i]});
  }
  /// The offsets of all items' entries, from all ranks. Collective.
  std::vector<std::uint64_t> gather_offsets(const session& s) const {
    const std::vector<item_size> all = s.all_gather(own_);
    std::vector<std::uint64_t> offsets(all.size() + 1);
    for (const item_size& one : all) offsets[one.item + 1] = one.entries;
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    return offsets;
  }

 private:
  struct item_size {
    std::uint64_t item, entries;
  };
  std::vector<item_size> own_;
};

}  // namespace

std::uint64_t kept_list_bytes(const session& s) {
  constexpr std::uint64_t max_bytes_of_node = 8'000'000'000;
  return std::min(max_bytes_of_node, read_main_memory().usable() / 4) / static_cast<std::uint64_t>(s.node_size());
}

seed_matrix make_density_matrix(int number, const std::string& file, const track_inputs& in) {
  seed_matrix m{number, file, in.space.grid, in.place_voxels, {}};
  std::sort(m.voxels.begin(), m.voxels.end());
  return m;
}

seed_matrix make_mask_matrix(int number, const std::string& file, const std::string& mask) {
  seed_matrix m{number, file, fsl_grid(read_nifti_header(mask)), {}, {}};
  m.voxels = read_labels(mask, m.grid, label_kind::mask).voxels_with({});
  return m;
}

seed_matrix make_listed_matrix(int number, const std::string& file, const std::vector<std::string>& masks,
                               const track_inputs& in) {
  const auto image = std::find_if_not(masks.begin(), masks.end(), is_surface_mask);
  seed_matrix m{number, file, image == masks.end() ? in.space.grid : fsl_grid(read_nifti_header(*image)), {}, {}};
  std::vector<bool> has_column(m.grid.voxel_count());
  const grid_space of_images(m.grid), of_surfaces(in.space.grid);
  for (std::uint32_t i = 0; i < masks.size(); ++i) {
    std::uint32_t place = 0;
    const auto add = [&](std::uint64_t voxel, const vector3& position_mm, std::uint32_t vertex) {
      m.voxels.push_back(voxel);
      m.places.push_back({i, place, vertex, to_float(position_mm)});
    };
    if (is_surface_mask(masks[i])) {
      const surface_masks::file& mesh = in.surfaces.files()[in.surfaces.find(masks[i])];
      for (; place < mesh.vertices; ++place) {
        const std::uint32_t vertex = mesh.first_vertex + place;
        if (in.surfaces.is_active(vertex)) add(no_voxel, of_surfaces.to_world(in.surfaces.position(vertex)), vertex);
      }
      continue;
    }
    for (const std::uint64_t v : read_labels(masks[i], m.grid, label_kind::mask).voxels_with({})) {
      if (!has_column[v]) add(v, of_images.to_world(voxel_position(m.grid, v)), list_place::no_vertex);
      has_column[v] = true;
      ++place;
    }
  }
  return m;
}

seed_matrix make_target_columns(int number, const std::string& file, const std::string& name, const char* option,
                                track_inputs& in) {
  const std::vector<std::string> masks = find_mask_files({name}, option);
  if (masks.size() == 1 && !is_surface_mask(masks.front())) {
    in.provenance[option] = fingerprint(masks.front());
    seed_matrix m = make_mask_matrix(number, file, masks.front());
    in.provenance[option]["voxels"] = m.voxels.size();
    return m;
  }
  in.provenance[option] = fingerprint(masks);
  seed_matrix m = make_listed_matrix(number, file, masks, in);
  if (!has_surfaces(masks)) {
    m.places.clear();
    return m;
  }
  std::vector<std::uint64_t> sizes(masks.size());
  for (const list_place& p : m.places) sizes[p.file] = std::max<std::uint64_t>(sizes[p.file], p.place + 1);
  for (std::size_t i = 0; i < masks.size(); ++i)
    if (is_surface_mask(masks[i])) sizes[i] = in.surfaces.files()[in.surfaces.find(masks[i])].vertices;
  in.configuration[fmt::format("{}_surfaces", option)] = describe_list(masks, sizes, in.surfaces);
  return m;
}

seed_matrix make_fibre_matrix(const track_request& request, track_inputs& in) {
  const std::string mask = find_mask_file(request.target4, "target4");
  in.provenance["target4"] = fingerprint(mask);
  seed_matrix m = make_mask_matrix(4, request.matrix4, mask);
  in.provenance["target4"]["voxels"] = m.voxels.size();
  m.by_fibre = true;
  constexpr std::size_t max_cells = 0x7fffffff;
  if (m.cells() > max_cells)
    refuse_data(fmt::format("{}: has {} voxels, expected at most {}", printable(mask), m.voxels.size(),
                            max_cells / track::fibre_columns));
  return m;
}

void number_columns(seed_matrix& m, const track_inputs& in) {
  m.column.assign(m.grid.voxel_count(), -1);
  for (std::size_t i = 0; i < m.voxels.size(); ++i)
    if (m.voxels[i] != no_voxel) m.column[m.voxels[i]] = static_cast<std::int32_t>(i);
  m.vertex_column.assign(m.places.empty() ? 0 : in.surfaces.vertices(), -1);
  for (std::size_t i = 0; i < m.places.size(); ++i)
    if (m.places[i].is_vertex()) m.vertex_column[m.places[i].vertex] = static_cast<std::int32_t>(i);
}

std::int32_t to_steps(double mm, const track_inputs& in) {
  return static_cast<std::int32_t>(std::ceil(mm / in.step_mm - 1e-4));
}

namespace {

/// Adds up the columns of each voxel of a matrix by fibre, which follow each other.
matrix_row join_fibres(const matrix_row& by_fibre) {
  matrix_row row;
  for (std::size_t i = 0; i < by_fibre.column.size(); ++i) {
    const std::uint32_t voxel = by_fibre.column[i] / track::fibre_columns,
                        fibre = by_fibre.column[i] % track::fibre_columns;
    if (row.column.empty() || row.column.back() != voxel) {
      row.column.push_back(voxel);
      row.steps.push_back(0);
      for (auto* counts : {&row.count, &row.fibre1, &row.fibre2}) counts->push_back(0);
    }
    row.count.back() += by_fibre.count[i];
    row.steps.back() += by_fibre.steps[i];
    if (fibre == 0) row.fibre1.back() = by_fibre.count[i];
    if (fibre == 1) row.fibre2.back() = by_fibre.count[i];
  }
  return row;
}

}  // namespace

std::vector<matrix_row> split_rows(const track::sparse_rows& rows, const entry_kind& kind) {
  std::vector<matrix_row> split(rows.begin.size() - 1);
  for (std::size_t i = 0; i < split.size(); ++i) {
    const auto part = [first = rows.begin[i], end = rows.begin[i + 1]](const auto& all) {
      return std::pair(all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const auto [column, column_end] = part(rows.column);
    const auto [count, count_end] = part(rows.count);
    split[i].column.assign(column, column_end);
    split[i].count.assign(count, count_end);
    if (!kind.lengths) continue;
    const auto [steps, steps_end] = part(rows.steps);
    split[i].steps.assign(steps, steps_end);
    if (kind.fibres) split[i] = join_fibres(split[i]);
  }
  return split;
}

track::track_input make_matrix_view(const seed_matrix& matrix, const track_inputs& in) {
  track::track_input view = in.view();
  view.matrix = matrix.view(in);
  view.how.min_total = matrix.min_total;
  view.columns = 0;
  view.target_begin = {};
  view.targets = {};
  return view;
}

track::column_grid seed_matrix::view(const track_inputs& in) const {
  track::column_grid view;
  view.column = column.data();
  if (!vertex_column.empty()) view.vertex_column = vertex_column.data();
  view.columns = static_cast<std::uint32_t>(cells());
  view.by_fibre = by_fibre;
  view.square = number == 1;
  view.after_start = after_start;
  for (std::size_t d = 0; d < 3; ++d) view.size[d] = static_cast<std::int32_t>(grid.size[d]);
  const fsl_grid& points = by_fibre ? in.samples.grid : in.space.grid;
  view.to_voxel = (number == 1 ? voxel_map() : map_by_world(points, grid)).rounded();
  return view;
}

void add_places(const std::vector<list_place>& places, const std::string& prefix, const std::string& group,
                std::vector<constant>& all) {
  if (places.empty()) return;
  const std::uint64_t n = places.size();
  constant roi{prefix + "roi", {n}, {}, "1", "number of its file in the list, from 0", group};
  constant place{prefix + "place", {n}, {}, "1", "number of the vertex, or of the voxel of the mask, from 0", group};
  constant position{prefix + "position", {n, 3}, {}, "mm", "position in the world, RAS+", group};
  for (const list_place& p : places) {
    roi.values.push_back(p.file);
    place.values.push_back(p.place);
    position.values.insert(position.values.end(), p.position_mm.begin(), p.position_mm.end());
  }
  all.insert(all.end(), {std::move(roi), std::move(place), std::move(position)});
}

std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in) {
  std::vector<seed_matrix> all;
  if (!request.matrix1.empty()) {
    all.push_back(make_matrix1(request.matrix1, in));
    all.back().min_total = to_steps(request.matrix_min_length_mm, in);
  }
  if (request.densities_by_seed) {
    all.push_back(make_density_matrix(2, request.matrix2, in));
  } else if (!request.matrix2.empty()) {
    s.agree([&] { all.push_back(make_target_columns(2, request.matrix2, request.target2, "target2", in)); });
  }
  if (!request.matrix4.empty() && request.matrix4_rows.empty())
    s.agree([&] { all.push_back(make_fibre_matrix(request, in)); });
  for (seed_matrix& m : all) {
    number_columns(m, in);
    m.kept = std::make_shared<kept_rows>(kept_list_bytes(s));
  }
  return all;
}

std::vector<constant> matrix_constants(const seed_matrix& matrix, const std::vector<list_place>& rows) {
  const auto make = [](const char* name, std::vector<std::uint64_t> shape, std::vector<double> values, const char* unit,
                       const char* meaning) {
    return constant{name, std::move(shape), std::move(values), unit, meaning, "matrix"};
  };
  const auto size = [](std::uint64_t n) { return static_cast<double>(n); };
  const auto& n = matrix.grid.size;
  const auto& affine = matrix.grid.in_file().voxel_to_world;
  std::vector<double> voxels;
  for (const std::uint64_t v : matrix.voxels) voxels.push_back(v == no_voxel ? -1 : size(matrix.grid.turned(v)));
  std::vector<constant> all = {
      make("number", {1}, {static_cast<double>(matrix.number)}, "1", "FSL's number of the matrix"),
      make("column_voxel", {voxels.size()}, voxels, "1", "linear index of each column's voxel in its image"),
      make("column_image_size", {3}, {size(n[0]), size(n[1]), size(n[2])}, "1", "voxels of this image"),
      make("column_voxel_to_world", {4, 4}, {affine.begin(), affine.end()}, "mm", "matrix of this image")};
  add_places(rows, "row_", "matrix", all);
  add_places(matrix.places, "column_", "matrix", all);
  return all;
}

void add_size_step(const session& s, const std::string& name, const std::string& item, step_list::maker make,
                   std::function<void(std::vector<std::uint64_t> offsets, nlohmann::json& summary)> use,
                   step_list& steps) {
  const auto sizes = std::make_shared<size_collector>();
  steps.run(name, std::move(make), [&s, sizes, use = std::move(use)](const std::string&, nlohmann::json& summary) {
    use(sizes->gather_offsets(s), summary);
  });
  steps.collect([sizes](const batch& items, auto outputs) { sizes->add(items, outputs); });
  steps.describe(item);
}

void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps) {
  const std::string name = "matrix" + std::to_string(matrix.number);
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  add_size_step(
      s, name + "-sizes", "row", [&, d] { return std::make_unique<matrix_sizes>(matrix, in, d); },
      [offsets, name](std::vector<std::uint64_t> found, nlohmann::json& summary) {
        *offsets = std::move(found);
        summary[name + "_entries"] = offsets->back();
      },
      steps);
  steps.run_into("--" + name, matrix.file, "track-matrix", name,
                 [&, d, offsets] { return std::make_unique<matrix_rows>(matrix, in, d, *offsets); });
  steps.describe("row");
}

}  // namespace voxherd
