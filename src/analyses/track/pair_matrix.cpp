#include "src/analyses/track/pair_matrix.hpp"

#include <algorithm>
#include <utility>

#include "core/step_outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "src/analyses/track/draw_tracker.hpp"
#include "src/analyses/track/matrix_steps.hpp"
#include "src/analyses/track/pair_sums.hpp"

namespace voxherd {

namespace {

/// Lists that this rank has drawn before, and draws the others.
class list_source {
 public:
  list_source(const pair_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix),
        in_(in),
        tracker_(in, d, [&](track::track_input& view) { adapt_to_pairs(matrix, in, view); }) {}

  /// Draws lists whose sizes are not known, and keeps them while there is memory.
  void draw(const batch& groups) {
    for (std::uint64_t g = groups.first_item; g < groups.first_item + groups.item_count; ++g)
      if (!kept().size(g)) matrix_.kept->keep(g, draw(g));
  }
  /// A list, which is not kept any longer.
  kept_pairs::pointer take(std::uint64_t group) {
    const kept_pairs::pointer list = matrix_.kept->take(group);
    return list ? list : std::make_shared<const pair_list>(draw(group));
  }
  const kept_pairs& kept() const { return *matrix_.kept; }
  void release_memory() { tracker_.release_memory(); }

 private:
  pair_list draw(std::uint64_t group) {
    const track_draw& with_group = in_.draw_with_group(group);
    pair_list pairs;
    tracker_.begin(with_group).track_pairs(group - with_group.first_group, pairs);
    return pairs;
  }

  const pair_matrix& matrix_;
  const track_inputs& in_;
  draw_tracker tracker_;
};

/// Items are groups of streamlines, as in streamline_groups; their results are lists of pairs.
class pair_items : public analysis {
 public:
  static constexpr const char* name_of_sizes = "track-pair-sizes";

  pair_items(const pair_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix), in_(in), device_(d), voxels_(in.groups(), no_voxel) {}

  const image_grid& grid() const override { return in_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override { return std::size_t{1} << 28; }
  std::uint64_t max_items_per_batch() const override { return 1; }

 protected:
  list_source make_lists() const { return {matrix_, in_, device_}; }

  const pair_matrix& matrix_;

 private:
  const track_inputs& in_;
  device device_;
  std::vector<std::uint64_t> voxels_;
};

struct pair_outputs {
  static constexpr output table[] = {
      {"pair", element_type::uint64, 3, "1",
       "row times 2^32, and column; streamlines that visit both; sum of the lengths between them in steps",
       output_layout::points},
  };
};
static_assert(sizeof(track::pair_entry) == pair_outputs::table[0].bytes_per_item(), "lists are stored as they are");

class list_runner final : public batch_runner {
 public:
  explicit list_runner(list_source lists) : lists_(std::move(lists)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    std::byte* next = outputs.front().data();
    for (std::size_t i = 0; i < items.item_count; ++i) {
      const kept_pairs::pointer pairs = lists_.take(items.first_item + i);
      next = std::ranges::copy(std::as_bytes(std::span(*pairs)), next).out;
    }
  }
  void release_memory() override { lists_.release_memory(); }

 private:
  list_source lists_;
};

/// The pairs of each group, in the order of their keys.
class pair_lists final : public pair_items {
 public:
  pair_lists(const pair_matrix& matrix, const track_inputs& in, const device& d, std::vector<std::uint64_t> offsets)
      : pair_items(matrix, in, d), offsets_(std::move(offsets)) {}
  std::string name() const override { return "track-pairs"; }
  std::vector<int> holders() const override { return matrix_.kept->holders(offsets_.size() - 1); }
  std::vector<output_spec> outputs() const override { return output_specs<pair_outputs>(); }
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  std::unique_ptr<batch_runner> make_runner() const override { return std::make_unique<list_runner>(make_lists()); }

 private:
  std::vector<std::uint64_t> offsets_;
};

/// The lists of a batch of pair_lists.
std::span<const track::pair_entry> pairs_in(std::span<const std::span<const std::byte>> outputs) {
  const std::span<const std::byte> bytes = outputs.front();
  return {reinterpret_cast<const track::pair_entry*>(bytes.data()), bytes.size() / sizeof(track::pair_entry)};
}

using sum_outputs = matrix_outputs<element_type::uint64>;

/// The sums of all lists.
struct summed_pairs {
  std::vector<std::uint64_t> offsets;  ///< of each row's entries
  std::vector<track::pair_entry> entries;
  std::vector<std::uint64_t> fibre1, fibre2;  ///< of each entry's count; empty if they are not wanted
};

class sum_runner final : public batch_runner {
 public:
  sum_runner(const summed_pairs& sums, const entry_kind& kind, double step_mm)
      : sums_(sums), step_mm_(step_mm), chosen_(chosen_outputs<sum_outputs>(kind)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<sum_outputs>(outputs, chosen_);
    const std::uint64_t first = sums_.offsets[items.first_item],
                        end = sums_.offsets[items.first_item + items.item_count];
    for (std::uint64_t i = first; i < end; ++i) {
      const track::pair_entry& e = sums_.entries[i];
      out.put<"column">(i - first, static_cast<std::uint32_t>(e.key));
      out.put<"count">(i - first, e.count);
      out.put<"length_sum">(i - first, static_cast<double>(e.steps) * step_mm_);
      if (sums_.fibre1.empty()) continue;
      out.put<"fibre1">(i - first, sums_.fibre1[i]);
      out.put<"fibre2">(i - first, sums_.fibre2[i]);
    }
  }

 private:
  const summed_pairs& sums_;
  double step_mm_;
  output_choice<sum_outputs> chosen_;
};

/// Items are the voxels of the mask, the rows of the matrix.
class pair_rows final : public analysis {
 public:
  pair_rows(const pair_matrix& matrix, const track_inputs& in, const summed_pairs& sums)
      : matrix_(matrix), in_(in), sums_(sums) {
    for (const std::uint64_t v : matrix.rows.voxels)
      voxels_.push_back(v == no_voxel ? no_voxel : matrix.rows.grid.turned(v));
  }

  std::string name() const override { return "track-matrix"; }
  const image_grid& grid() const override { return matrix_.rows.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  bool may_be_empty() const override { return true; }
  std::vector<output_spec> outputs() const override { return output_specs<sum_outputs>(kind()); }
  std::vector<constant> constants() const override {
    return matrix_constants(matrix_.column_mask(), matrix_.rows.places);
  }
  std::vector<std::uint64_t> point_offsets() const override { return sums_.offsets; }
  std::size_t device_bytes_per_item() const override { return 64; }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<sum_runner>(sums_, kind(), in_.step_mm);
  }

 private:
  entry_kind kind() const { return matrix_.column_mask().entries(in_); }

  const pair_matrix& matrix_;
  const track_inputs& in_;
  const summed_pairs& sums_;
  std::vector<std::uint64_t> voxels_;
};

/// Adds up the columns of each voxel of a matrix by fibre, which follow each other.
void join_fibre_pairs(summed_pairs& sums) {
  std::size_t joined = 0;
  for (const track::pair_entry e : sums.entries) {
    const std::uint64_t column = e.key & 0xffffffff, fibre = column % track::fibre_columns,
                        key = (e.key >> 32) << 32 | column / track::fibre_columns;
    if (joined == 0 || sums.entries[joined - 1].key != key) {
      sums.entries[joined++] = {key, 0, 0};
      sums.fibre1.push_back(0), sums.fibre2.push_back(0);
    }
    sums.entries[joined - 1].count += e.count;
    sums.entries[joined - 1].steps += e.steps;
    if (fibre == 0) sums.fibre1.back() = e.count;
    if (fibre == 1) sums.fibre2.back() = e.count;
  }
  sums.entries.resize(joined);
}

/// Every rank has the sums, since each writes a part of the rows.
summed_pairs add_up(const session& s, const pair_matrix& matrix, pair_sums& lists) {
  const std::size_t rows = matrix.rows.voxels.size();
  summed_pairs sums;
  sums.entries = lists.gather(s);
  s.agree([&] {
    if (matrix.columns.by_fibre) join_fibre_pairs(sums);
    sums.offsets.assign(rows + 1, 0);
    for (const track::pair_entry& e : sums.entries) ++sums.offsets[(e.key >> 32) + 1];
    for (std::size_t r = 0; r < rows; ++r) sums.offsets[r + 1] += sums.offsets[r];
  });
  return sums;
}

}  // namespace

void adapt_to_pairs(const pair_matrix& matrix, const track_inputs& in, track::track_input& view) {
  adapt_to_matrix(matrix.rows, in, view);
  if (matrix.has_own_columns()) view.pair_columns = matrix.columns.view(in);
}

pair_matrix make_pair_matrix(const session& s, const track_request& request, track_inputs& in) {
  pair_matrix m;
  s.agree([&] {
    m.rows = make_target_columns(3, request.matrix3, request.target3, "target3", in);
    if (request.target3_columns.empty()) return;
    m.columns = make_target_columns(3, request.matrix3, request.target3_columns, "target3-columns", in);
    number_columns(m.columns, in);
  });
  number_columns(m.rows, in);
  m.rows.min_total = to_steps(request.matrix_min_length_mm, in);
  m.kept = std::make_shared<kept_pairs>(kept_list_bytes(s));
  return m;
}

pair_matrix make_fibre_pairs(const session& s, const track_request& request, track_inputs& in) {
  pair_matrix m;
  m.option = "--matrix4", m.step = "fibre-pair", m.result = "matrix4";
  s.agree([&] {
    m.columns = make_fibre_matrix(request, in);
    m.rows = make_target_columns(4, request.matrix4, request.matrix4_rows, "matrix4-rows", in);
  });
  number_columns(m.columns, in);
  number_columns(m.rows, in);
  m.kept = std::make_shared<kept_pairs>(kept_list_bytes(s));
  return m;
}

pair_matrix make_region_pairs(const session& s, const track_inputs& in) {
  pair_matrix m;
  m.option = "--connectome", m.step = "region-pair", m.result = "connectome";
  m.rows = make_region_matrix(in);
  m.kept = std::make_shared<kept_pairs>(kept_list_bytes(s));
  m.sums = std::make_shared<std::vector<track::pair_entry>>();
  return m;
}

void add_pair_steps(const session& s, const pair_matrix& matrix, const track_inputs& in, const device& d,
                    step_list& steps) {
  const auto lists = std::make_shared<pair_sums>(matrix.rows.voxels.size(), d.threads);
  const auto sums = std::make_shared<summed_pairs>();
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  add_size_step(
      s, matrix.step + "-sizes", "group",
      [&, d] {
        matrix.kept->share(s);
        return std::make_unique<list_sizes<pair_items>>(matrix, in, d);
      },
      [offsets](std::vector<std::uint64_t> found, nlohmann::json&) { *offsets = std::move(found); }, steps);
  const auto make_lists = [&, d, offsets] {
    matrix.kept->share(s);
    return std::make_unique<pair_lists>(matrix, in, d, *offsets);
  };
  const auto add_lists = [&, lists, sums](const std::string&, nlohmann::json& summary) {
    *sums = add_up(s, matrix, *lists);
    summary[matrix.result + "_entries"] = sums->entries.size();
    if (matrix.sums) *matrix.sums = std::move(sums->entries);
  };
  steps.run(matrix.step + "s", make_lists, add_lists)
      .collect([lists](const batch&, auto outputs) { lists->add(pairs_in(outputs)); })
      .describe("group");
  if (matrix.sums) return;
  steps
      .run_into(matrix.option, matrix.rows.file, "track-matrix", matrix.result,
                [&, sums] { return std::make_unique<pair_rows>(matrix, in, *sums); })
      .describe("row");
}

}  // namespace voxherd
