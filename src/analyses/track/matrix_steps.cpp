#include "src/analyses/track/matrix_steps.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "kernels/portable/output_arrays.hpp"
#include "kernels/portable/output_rows.hpp"
#include "src/analyses/track/draw_tracker.hpp"
#include "src/analyses/track/kept_lists.hpp"
#include "src/analyses/track/surface_seeds.hpp"

namespace voxherd {

namespace {

using row_outputs = matrix_outputs<element_type::uint32>;

/// Rows that this rank has drawn before, and draws the others.
class row_source {
 public:
  row_source(const seed_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix),
        in_(in),
        tracker_(in, d, [&](track::track_input& view) { adapt_to_matrix(matrix, in, view); }) {}

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
  void draw(const batch& seeds) { find(seeds); }
  const kept_rows& kept() const { return *matrix_.kept; }
  void release_memory() { tracker_.release_memory(); }

 private:
  void draw(std::uint64_t first, std::span<kept_rows::pointer> rows) {
    for_each_draw(
        first, rows.size(), [&](std::uint64_t seed) -> auto& { return in_.draw_with_seed(seed); },
        [](const track_draw& draw) { return draw.first_seed + draw.seeds.size(); },
        [&](const track_draw& draw, std::uint64_t seed, std::uint64_t count) {
          track::sparse_rows drawn;
          tracker_.begin(draw).track_rows(seed - draw.first_seed, count, drawn);
          for (matrix_row& row : split_rows(drawn, matrix_.entries(in_))) {
            rows[seed - first] = matrix_.kept->keep(seed, std::move(row));
            ++seed;
          }
        });
  }

  const seed_matrix& matrix_;
  const track_inputs& in_;
  draw_tracker tracker_;
};

/// Items are seeds, the rows of the matrix; all streamlines of a seed are drawn at once.
class matrix_items : public analysis {
 public:
  static constexpr const char* name_of_sizes = "track-matrix-sizes";

  matrix_items(const seed_matrix& matrix, const track_inputs& in, const device& d);

  const image_grid& grid() const override { return in_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override;
  std::uint64_t max_items_per_batch() const override;

 protected:
  row_source make_lists() const;

  const seed_matrix& matrix_;
  const track_inputs& in_;

 private:
  device device_;
  std::vector<std::uint64_t> voxels_;
};

/// The entries.
class matrix_rows final : public matrix_items {
 public:
  matrix_rows(const seed_matrix& matrix, const track_inputs& in, const device& d, std::vector<std::uint64_t> offsets)
      : matrix_items(matrix, in, d), offsets_(std::move(offsets)) {}
  std::string name() const override { return "track-matrix"; }
  std::vector<output_spec> outputs() const override { return output_specs<row_outputs>(matrix_.entries(in_)); }
  std::vector<constant> constants() const override;
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  std::vector<int> holders() const override { return matrix_.kept->holders(offsets_.size() - 1); }
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  std::vector<std::uint64_t> offsets_;
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
  for (std::uint64_t i = 0; i < in.seeds(); ++i) voxels_.push_back(in.seed_voxel(i));
}

/// A row is dense while it is counted.
std::size_t matrix_items::device_bytes_per_item() const {
  return matrix_.cells() * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
}

/// Few rows for a batch, so that ranks share the work evenly, but enough streamlines for a GPU. Rounded to
/// complete groups where possible, because one rank draws a group.
std::uint64_t matrix_items::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{1} << 30, streamlines = std::uint64_t{1} << 20;
  const track::group_plan& plan = in_.draws.front().plan;
  const auto most = std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1,
                                              std::max<std::uint64_t>(127, streamlines / plan.per_seed));
  const std::uint64_t of_group = plan.has_whole_seeds() ? plan.per_group / plan.per_seed : most;
  return of_group < most ? most / of_group * of_group : most;
}

row_source matrix_items::make_lists() const { return {matrix_, in_, device_}; }

std::vector<constant> matrix_rows::constants() const {
  std::vector<constant> all = matrix_constants(matrix_, in_.seed_places);
  if (!in_.has_tracts()) return all;
  constant tracts{"row_tract", {in_.seeds()}, {}, "1", "number of each row's tract, from 0, in the order of the maps",
                  "matrix"};
  for (const track_draw& draw : in_.draws)
    tracts.values.insert(tracts.values.end(), draw.seeds.size(), static_cast<double>(draw.tract));
  all.push_back(std::move(tracts));
  return all;
}

std::unique_ptr<batch_runner> matrix_rows::make_runner() const {
  return std::make_unique<row_runner>(make_lists(), matrix_, in_);
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
  std::vector<item_size> own_;
};

/// Counts the streamlines that reach a vertex of another surface, in the rows that this rank receives.
class surface_joins {
 public:
  surface_joins(const seed_matrix& matrix, const track_inputs& in,
                std::shared_ptr<const std::vector<std::uint64_t>> offsets)
      : matrix_(matrix),
        in_(in),
        offsets_(std::move(offsets)),
        chosen_(chosen_outputs<row_outputs>(matrix.entries(in))) {}

  void add(const batch& seeds, std::span<const std::span<const std::byte>> outputs) {
    const output_rows<row_outputs> rows(outputs, chosen_);
    const auto columns = rows.values<"column">();
    const auto counts = rows.values<"count">();
    const std::uint64_t first = (*offsets_)[seeds.first_item];
    for (std::uint64_t i = seeds.first_item; i < seeds.first_item + seeds.item_count; ++i) {
      const list_place& from = in_.seed_places[i];
      if (!from.is_vertex()) continue;
      for (std::uint64_t e = (*offsets_)[i] - first; e < (*offsets_)[i + 1] - first; ++e) {
        const list_place& to = matrix_.places[columns[e]];
        if (to.is_vertex() && to.file != from.file) joining_ += counts[e];
      }
    }
  }
  /// Collective.
  void report(const session& s) const {
    const std::uint64_t all = s.all_reduce(reduction::sum, joining_);
    s.on_root([&] {
      if (offsets_->back() > 0) warn_of_separate_surfaces(in_, all);
    });
  }

 private:
  const seed_matrix& matrix_;
  const track_inputs& in_;
  std::shared_ptr<const std::vector<std::uint64_t>> offsets_;
  output_choice<row_outputs> chosen_;
  std::uint64_t joining_ = 0;
};

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

void add_size_step(const session& s, const std::string& name, const std::string& item, step_list::maker make,
                   std::function<void(std::vector<std::uint64_t> offsets, nlohmann::json& summary)> use,
                   step_list& steps) {
  const auto sizes = std::make_shared<size_collector>();
  const auto gather = [&s, sizes, use = std::move(use)](const std::string&, nlohmann::json& summary) {
    use(sizes->gather_offsets(s), summary);
  };
  steps.run(name, std::move(make), gather)
      .collect([sizes](const batch& items, auto outputs) { sizes->add(items, outputs); })
      .describe(item);
}

void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps) {
  const std::string name = "matrix" + std::to_string(matrix.number);
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  add_size_step(
      s, name + "-sizes", "row",
      [&, d] {
        matrix.kept->share(s);
        return std::make_unique<list_sizes<matrix_items>>(matrix, in, d);
      },
      [offsets, name](std::vector<std::uint64_t> found, nlohmann::json& summary) {
        *offsets = std::move(found);
        summary[name + "_entries"] = offsets->back();
      },
      steps);
  const auto make = [&, d, offsets] {
    matrix.kept->share(s);
    return std::make_unique<matrix_rows>(matrix, in, d, *offsets);
  };
  if (matrix.number != 1 || in.seed_places.empty()) {
    steps.run_into("--" + name, matrix.file, "track-matrix", name, make).describe("row");
    return;
  }
  const auto joins = std::make_shared<surface_joins>(matrix, in, offsets);
  const auto report = [&s, joins](const std::string&, nlohmann::json&) { joins->report(s); };
  steps.run_into("--" + name, matrix.file, "track-matrix", name, make, report)
      .collect([joins](const batch& seeds, auto outputs) { joins->add(seeds, outputs); })
      .describe("row");
}

}  // namespace voxherd
