#include "src/analyses/track/pair_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/step_outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/track/draw_tracker.hpp"
#include "src/analyses/track/matrix_steps.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

/// Items are groups of streamlines, as in streamline_groups; their results are lists of pairs.
class pair_items : public analysis {
 public:
  pair_items(const pair_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix), in_(in), device_(d), voxels_(in.groups(), no_voxel) {}

  const image_grid& grid() const override { return in_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override { return std::size_t{1} << 28; }
  std::uint64_t max_items_per_batch() const override { return 1; }

 protected:
  const pair_matrix& matrix_;
  const track_inputs& in_;
  device device_;

 private:
  std::vector<std::uint64_t> voxels_;
};

/// Lists that this rank has drawn before, and draws the others.
class list_source {
 public:
  list_source(const pair_matrix& matrix, const track_inputs& in, const device& d)
      : matrix_(matrix),
        in_(in),
        tracker_(in, d, [&](track::track_input& view) { adapt_to_pairs(matrix, in, view); }) {}

  kept_pairs::pointer find(std::uint64_t group) {
    if (auto kept = matrix_.kept->find(group)) return kept;
    const track_draw& draw = in_.draw_with_group(group);
    pair_list pairs;
    tracker_.begin(draw).track_pairs(group - draw.first_group, pairs);
    return matrix_.kept->keep(group, std::move(pairs));
  }
  const kept_pairs& kept() const { return *matrix_.kept; }
  void release_memory() { tracker_.release_memory(); }

 private:
  const pair_matrix& matrix_;
  const track_inputs& in_;
  draw_tracker tracker_;
};

/// How many pairs each group has.
class pair_sizes final : public pair_items {
 public:
  using pair_items::pair_items;
  std::string name() const override { return "track-pair-sizes"; }
  std::vector<output_spec> outputs() const override { return output_specs<size_outputs>(); }
  std::unique_ptr<batch_runner> make_runner() const override;
};

struct pair_outputs {
  static constexpr output table[] = {
      {"key", element_type::uint64, 1, "1", "row times 2^32, and column", output_layout::points},
      {"count", element_type::uint64, 1, "1", "streamlines that visit both", output_layout::points},
      {"steps", element_type::uint64, 1, "steps", "sum of the lengths between them", output_layout::points},
  };
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
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  std::vector<std::uint64_t> offsets_;
};

class pair_size_runner final : public batch_runner {
 public:
  explicit pair_size_runner(list_source lists) : lists_(std::move(lists)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    put_sizes(lists_.kept(), items, outputs, [&] {
      for (std::size_t i = 0; i < items.item_count; ++i) lists_.find(items.first_item + i);
    });
  }
  void release_memory() override { lists_.release_memory(); }

 private:
  list_source lists_;
};

class list_runner final : public batch_runner {
 public:
  explicit list_runner(list_source lists) : lists_(std::move(lists)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<pair_outputs>(outputs);
    std::size_t next = 0;
    for (std::size_t i = 0; i < items.item_count; ++i) {
      const kept_pairs::pointer pairs = lists_.find(items.first_item + i);
      for (const track::pair_entry& p : *pairs) {
        out.put<"key">(next, p.key);
        out.put<"count">(next, p.count);
        out.put<"steps">(next++, p.steps);
      }
    }
  }
  void release_memory() override { lists_.release_memory(); }

 private:
  list_source lists_;
};

/// The arrays of a file of pair_lists, for several threads at once; HDF5 would read on one.
class list_reader {
 public:
  explicit list_reader(const result_reader& lists) : lists_(lists), file_(lists.path()) {
    for (const auto& [name, begin] : {std::pair{"key", &key_}, {"count", &count_}, {"steps", &steps_}}) {
      const std::optional<std::uint64_t> offset = lists.rows_offset(name);
      if (!offset)
        throw failure(exit_status::bad_data,
                      fmt::format("{}: {} was not written by this program; remove the file and repeat the command",
                                  file_.name(), name));
      *begin = *offset;
    }
  }

  /// Appends the entries of rows [first_row, end_row) of all lists, each of which is in the order of its keys.
  void append(std::uint64_t first_row, std::uint64_t end_row, std::vector<track::pair_entry>& entries) const {
    const std::vector<std::uint64_t>& offsets = lists_.point_offsets();
    std::vector<std::uint64_t> key, count, steps;
    for (std::size_t g = 0; g + 1 < offsets.size(); ++g) {
      const std::uint64_t first = find_row(offsets[g], offsets[g + 1], first_row);
      const std::uint64_t end = find_row(first, offsets[g + 1], end_row);
      read(key_, first, end, key);
      read(count_, first, end, count);
      read(steps_, first, end, steps);
      for (std::size_t i = 0; i < key.size(); ++i) entries.push_back({key[i], count[i], steps[i]});
    }
  }

 private:
  void read(std::uint64_t begin, std::uint64_t first, std::uint64_t end, std::vector<std::uint64_t>& values) const {
    values.resize(end - first);
    file_.read(begin + first * sizeof(std::uint64_t), values.data(), values.size() * sizeof(std::uint64_t));
  }

  /// First of the entries [first, end) of row `row` or a later one.
  std::uint64_t find_row(std::uint64_t first, std::uint64_t end, std::uint64_t row) const {
    while (first < end) {
      const std::uint64_t middle = first + (end - first) / 2;
      std::uint64_t key = 0;
      file_.read(key_ + middle * sizeof key, &key, sizeof key);
      if (key >> 32 < row) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }

  const result_reader& lists_;
  input_file file_;
  std::uint64_t key_ = 0, count_ = 0, steps_ = 0;  ///< bytes of the file at which the arrays begin
};

std::unique_ptr<batch_runner> pair_sizes::make_runner() const {
  return std::make_unique<pair_size_runner>(list_source(matrix_, in_, device_));
}

std::unique_ptr<batch_runner> pair_lists::make_runner() const {
  return std::make_unique<list_runner>(list_source(matrix_, in_, device_));
}

/// The sums over all groups of a file of pair_lists, for rows [0, rows), in the order of their keys. Each thread adds a
/// few rows at a time, so that little more than the result is in memory.
std::vector<track::pair_entry> add_pair_lists(const result_reader& lists, std::size_t rows, int threads) {
  if (lists.point_offsets().back() == 0) return {};
  constexpr std::size_t rows_at_once = 64;
  const list_reader reader(lists);
  std::vector<std::vector<track::pair_entry>> parts((rows + rows_at_once - 1) / rows_at_once);
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t p = 0; p < parts.size(); ++p) {
    try {
      std::vector<track::pair_entry> some;
      reader.append(p * rows_at_once, std::min(rows, (p + 1) * rows_at_once), some);
      track::reduce_pairs(some);
      parts[p].assign(some.begin(), some.end());  // without the room of the repeated keys
    } catch (...) {
#pragma omp critical(voxherd_add_pairs)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  std::vector<track::pair_entry> all;
  for (std::vector<track::pair_entry>& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  return all;
}

using sum_outputs = matrix_outputs<element_type::uint64>;

/// What the steps hand to each other.
struct pair_sums {
  std::string lists;  ///< file
  std::vector<std::uint64_t> offsets;
  std::vector<track::pair_entry> entries;
  std::vector<std::uint64_t> fibre1, fibre2;  ///< of each entry's count; empty if they are not wanted
};

class sum_runner final : public batch_runner {
 public:
  sum_runner(const pair_sums& sums, const entry_kind& kind, double step_mm)
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
  const pair_sums& sums_;
  double step_mm_;
  output_choice<sum_outputs> chosen_;
};

/// Items are the voxels of the mask, the rows of the matrix.
class pair_rows final : public analysis {
 public:
  pair_rows(const pair_matrix& matrix, const track_inputs& in, const pair_sums& sums)
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
  const pair_sums& sums_;
  std::vector<std::uint64_t> voxels_;
};

/// Adds up the columns of each voxel of a matrix by fibre, which follow each other.
void join_fibre_pairs(pair_sums& sums) {
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
void add_up(const session& s, const pair_matrix& matrix, int threads, pair_sums& sums) {
  const std::size_t rows = matrix.rows.voxels.size();
  s.on_root([&] { sums.entries = add_pair_lists(result_reader(sums.lists), rows, threads); });
  s.broadcast(sums.entries);
  if (matrix.columns.by_fibre) join_fibre_pairs(sums);
  sums.offsets.assign(rows + 1, 0);
  for (const track::pair_entry& e : sums.entries) ++sums.offsets[(e.key >> 32) + 1];
  for (std::size_t r = 0; r < rows; ++r) sums.offsets[r + 1] += sums.offsets[r];
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
  const auto sums = std::make_shared<pair_sums>();
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  add_size_step(
      s, matrix.step + "-sizes", "group",
      [&, d] {
        matrix.kept->share(s);
        return std::make_unique<pair_sizes>(matrix, in, d);
      },
      [offsets](std::vector<std::uint64_t> found, nlohmann::json&) { *offsets = std::move(found); }, steps);
  const auto make_lists = [&, d, offsets] {
    matrix.kept->share(s);
    return std::make_unique<pair_lists>(matrix, in, d, *offsets);
  };
  steps.run(matrix.step + "s", make_lists, [sums](const std::string& file, nlohmann::json&) { sums->lists = file; })
      .describe("group");
  steps.work(matrix.step + "-sums", [&, d, sums](nlohmann::json& summary) {
    add_up(s, matrix, d.threads, *sums);
    summary[matrix.result + "_entries"] = sums->entries.size();
    if (matrix.sums) *matrix.sums = std::move(sums->entries);
  });
  if (matrix.sums) return;
  steps
      .run_into(matrix.option, matrix.rows.file, "track-matrix", matrix.result,
                [&, sums] { return std::make_unique<pair_rows>(matrix, in, *sums); })
      .describe("row");
}

}  // namespace voxherd
