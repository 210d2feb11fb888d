#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "core/step_outputs.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/track/tracker.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/track/kept_lists.hpp"
#include "src/analyses/track/matrix.hpp"

namespace voxherd {

/// One list per row of what a tracker drew.
std::vector<matrix_row> split_rows(const track::sparse_rows& rows, const entry_kind& kind);

/// Entries of a matrix. The rows of the points (see analysis::point_offsets) are the matrix in compressed sparse rows.
template <element_type Count>
struct matrix_outputs {
  using inputs = entry_kind;
  static bool has_lengths(const inputs& in) { return in.lengths; }
  static bool has_fibres(const inputs& in) { return in.fibres; }

  static constexpr step_output<inputs> table[] = {
      {"column",
       element_type::uint32,
       1,
       "1",
       "column of the entry, from 0; see /matrix",
       {.layout = output_layout::points}},
      {"count", Count, 1, "1", "streamlines that connect row and column", {.layout = output_layout::points}},
      {"length_sum",
       element_type::float64,
       1,
       "mm",
       "sum of the lengths of the paths between them",
       {.layout = output_layout::points, .when = has_lengths}},
      {"fibre1",
       Count,
       1,
       "1",
       "those that follow fibre 1 from their first point in the column's voxel",
       {.layout = output_layout::points, .when = has_fibres}},
      {"fibre2", Count, 1, "1", "those that follow fibre 2", {.layout = output_layout::points, .when = has_fibres}},
  };
};

/// Sizes of items whose points a later step writes.
struct size_outputs {
  static constexpr output table[] = {
      {"entries", element_type::uint64, 1, "1", "points of the item", output_layout::items}};
};

/// Writes the size_outputs. `Lists` draws the lists whose sizes are not known.
template <class Lists>
class size_runner final : public batch_runner {
 public:
  explicit size_runner(Lists lists) : lists_(std::move(lists)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<size_outputs>(outputs);
    for (std::uint64_t i = 0; i < items.item_count; ++i) {
      if (!lists_.kept().size(items.first_item + i)) lists_.draw(items);
      out.template put<"entries">(i, *lists_.kept().size(items.first_item + i));
    }
  }
  void release_memory() override { lists_.release_memory(); }

 private:
  Lists lists_;
};

/// How many entries the list of each item has.
template <class Items>
class list_sizes final : public Items {
 public:
  using Items::Items;
  std::string name() const override { return Items::name_of_sizes; }
  std::vector<output_spec> outputs() const override { return output_specs<size_outputs>(); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<size_runner<decltype(Items::make_lists())>>(Items::make_lists());
  }
};

/// Adds the step `name`, which computes size_outputs. `use` gets where the points of each item begin and, last, how
/// many there are.
void add_size_step(const session& s, const std::string& name, const std::string& item, step_list::maker make,
                   std::function<void(std::vector<std::uint64_t> offsets, nlohmann::json& summary)> use,
                   step_list& steps);

/// Adds the steps that draw the rows twice: how many entries each has, and what they are.
void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps);

}  // namespace voxherd
