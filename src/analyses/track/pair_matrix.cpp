#include "src/analyses/track/pair_matrix.hpp"

#include <algorithm>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/track/matrix_rows.hpp"
#include "src/io/fingerprint.hpp"

namespace voxherd {

namespace {

/// What the steps hand to each other.
struct pair_sums {
  std::string lists;  ///< file
  std::vector<std::uint64_t> offsets;
  std::vector<track::pair_entry> entries;
};

class sum_runner final : public batch_runner {
 public:
  sum_runner(const pair_sums& sums, bool lengths, double step_mm) : sums_(sums), lengths_(lengths), step_mm_(step_mm) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const std::uint64_t first = sums_.offsets[items.first_item],
                        end = sums_.offsets[items.first_item + items.item_count];
    for (std::uint64_t i = first; i < end; ++i) {
      const track::pair_entry& e = sums_.entries[i];
      output_array<std::uint32_t>(outputs, 0)[i - first] = static_cast<std::uint32_t>(e.key);
      output_array<std::uint64_t>(outputs, 1)[i - first] = e.count;
      if (lengths_) output_array<double>(outputs, 2)[i - first] = static_cast<double>(e.steps) * step_mm_;
    }
  }

 private:
  const pair_sums& sums_;
  bool lengths_;
  double step_mm_;
};

/// Items are the voxels of the mask, the rows of the matrix.
class pair_rows final : public analysis {
 public:
  pair_rows(const pair_matrix& matrix, const track_inputs& in, const pair_sums& sums)
      : matrix_(matrix), in_(in), sums_(sums) {}

  std::string name() const override { return "track-matrix"; }
  const image_grid& grid() const override { return matrix_.rows.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return matrix_.rows.voxels; }
  std::vector<output_spec> outputs() const override { return matrix_outputs(element_type::uint64, in_.lengths); }
  std::vector<constant> constants() const override { return matrix_constants(matrix_.column_mask()); }
  std::vector<std::uint64_t> point_offsets() const override { return sums_.offsets; }
  std::size_t device_bytes_per_item() const override { return 64; }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<sum_runner>(sums_, in_.lengths, in_.step_mm);
  }

 private:
  const pair_matrix& matrix_;
  const track_inputs& in_;
  const pair_sums& sums_;
};

/// Every rank has the sums, since each writes a part of the rows.
void add_up(const session& s, std::size_t rows, int threads, pair_sums& sums) {
  s.on_root([&] { sums.entries = add_pair_lists(result_reader(sums.lists, tables::walked_or_own), rows, threads); });
  s.broadcast(sums.entries);
  sums.offsets.assign(rows + 1, 0);
  for (const track::pair_entry& e : sums.entries) ++sums.offsets[(e.key >> 32) + 1];
  for (std::size_t r = 0; r < rows; ++r) sums.offsets[r + 1] += sums.offsets[r];
}

}  // namespace

pair_matrix make_pair_matrix(const session& s, const track_request& request, track_inputs& in) {
  pair_matrix m;
  s.agree([&] {
    m.rows = make_mask_matrix(3, request.matrix3, request.target3);
    in.provenance["target3"] = fingerprint(request.target3);
    if (request.target3_columns.empty()) return;
    m.columns = make_mask_matrix(3, request.matrix3, request.target3_columns);
    in.provenance["target3-columns"] = fingerprint(request.target3_columns);
    number_columns(m.columns);
  });
  number_columns(m.rows);
  m.rows.min_total = to_steps(request.matrix_min_length_mm, in);
  return m;
}

void add_pair_steps(const session& s, const pair_matrix& matrix, const track_inputs& in, const device& d,
                    step_list& steps) {
  const auto sums = std::make_shared<pair_sums>();
  const auto offsets = std::make_shared<std::vector<std::uint64_t>>();
  steps.run(
      "pair-sizes", [&, d] { return std::make_unique<pair_sizes>(matrix, in, d); },
      [&s, offsets](const std::string& file, nlohmann::json&) { *offsets = read_sizes<std::uint64_t>(s, file); });
  steps.describe("group");
  steps.run(
      "pairs", [&, d, offsets] { return std::make_unique<pair_lists>(matrix, in, d, *offsets); },
      [sums](const std::string& file, nlohmann::json&) { sums->lists = file; });
  steps.describe("group");
  steps.work("pair-sums", [&, d, sums](nlohmann::json& summary) {
    add_up(s, matrix.rows.voxels.size(), d.threads, *sums);
    summary["matrix3_entries"] = sums->entries.size();
  });
  steps.run_into(matrix.rows.file, "track-matrix", "matrix3",
                 [&, sums] { return std::make_unique<pair_rows>(matrix, in, *sums); });
  steps.describe("row");
}

}  // namespace voxherd
