#include "src/analyses/track/groups.hpp"

#include <algorithm>
#include <limits>

#include "src/analyses/track/matrix_steps.hpp"

namespace voxherd {

namespace {

/// The shape of an array's row.
std::vector<std::uint64_t> row_shape(const track::count_array& array, const track::count_extents& extents) {
  if (array.by == track::counted_by::column) return {extents.seeds, extents.columns};
  if (array.by == track::counted_by::group && array.width == 1) return {};
  const std::uint64_t numbers = extents.numbers(array);
  return array.width == 1 ? std::vector{numbers} : std::vector<std::uint64_t>{numbers / array.width, array.width};
}

/// What the tracker of the groups reads: also the columns of a matrix that is drawn with them.
void adapt_to_groups(const drawn_matrix& matrix, const track_inputs& in, track::track_input& view) {
  const track::track_input given = view;
  if (matrix.rows != nullptr) adapt_to_matrix(*matrix.rows, in, view);
  if (matrix.pairs != nullptr) adapt_to_pairs(*matrix.pairs, in, view);
  view.columns = given.columns;
  view.target_begin = given.target_begin;
  view.targets = given.targets;
}

/// On a GPU the rows of a group are dense at once, on CPU cores each thread draws one after another.
bool has_room_for_rows(const seed_matrix& matrix, const track_inputs& in, const device& d) {
  constexpr std::uint64_t table_bytes = std::uint64_t{1} << 30,
                          cell_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  return std::all_of(in.draws.begin(), in.draws.end(), [&](const track_draw& draw) {
    if (!draw.plan.has_whole_seeds()) return false;
    const std::uint64_t seeds = draw.plan.per_group / draw.plan.per_seed;
    if (d.kind == backend::cpu) return seeds >= 2 * static_cast<std::uint64_t>(d.threads) || draw.plan.groups() == 1;
    return seeds * matrix.cells() * cell_bytes <= table_bytes;
  });
}

class group_runner final : public batch_runner {
 public:
  /// `per_group`: streamlines that are drawn of each group, at most.
  group_runner(const device& d, const track_inputs& in, std::uint64_t per_group, const drawn_matrix& matrix)
      : in_(in),
        matrix_(matrix),
        arrays_(list_counted_arrays(in)),
        per_group_(std::min(per_group, in.draws.front().plan.per_group)),
        tracker_(in, d, [this](track::track_input& view) {
          adapt_to_groups(matrix_, in_, view);
          view.plan.per_group = per_group_;
        }) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    track::counters all;
    for (std::size_t i = 0; i < arrays_.size(); ++i) all.array[arrays_[i]] = outputs[i].data();
    for_each_draw(
        items.first_item, items.item_count, [&](std::uint64_t group) -> auto& { return in_.draw_with_group(group); },
        [](const track_draw& draw) { return draw.first_group + draw.plan.groups(); },
        [&](const track_draw& draw, std::uint64_t first, std::uint64_t count) {
          run(draw, first, count, all.row(first - items.first_item, in_.extents()));
        });
  }
  void release_memory() override { tracker_.release_memory(); }

 private:
  void run(const track_draw& draw, std::uint64_t first, std::uint64_t count, const track::counters& to) {
    track::sparse_rows rows;
    std::vector<pair_list> pairs;
    const std::uint64_t drawn_of_group = draw.plan.per_group / per_group_, of_draw = first - draw.first_group;
    tracker_.begin(draw).track(
        of_draw * drawn_of_group, count, to,
        {matrix_.rows == nullptr ? nullptr : &rows, matrix_.pairs == nullptr ? nullptr : &pairs});
    std::uint64_t seed = draw.first_seed + draw.plan.first_seed(of_draw), group = first;
    if (matrix_.rows != nullptr)
      for (matrix_row& row : split_rows(rows, matrix_.rows->entries(in_)))
        matrix_.rows->kept->keep(seed++, std::move(row));
    for (pair_list& list : pairs) matrix_.pairs->kept->keep(group++, std::move(list));
  }

  const track_inputs& in_;
  drawn_matrix matrix_;
  std::vector<std::size_t> arrays_;
  std::uint64_t per_group_;
  draw_tracker tracker_;
};

}  // namespace

drawn_matrix choose_drawn_matrix(const std::vector<seed_matrix>& matrices, const std::vector<pair_matrix>& pairs,
                                 const track_inputs& in, const device& d) {
  for (const seed_matrix& m : matrices)
    if (m.min_total == 0 && has_room_for_rows(m, in, d)) return {&m, nullptr};
  for (const pair_matrix& p : pairs)
    if (p.rows.min_total == 0) return {nullptr, &p};
  return {};
}

std::vector<output_spec> streamline_groups::outputs() const {
  std::vector<output_spec> specs;
  for (const std::size_t i : list_counted_arrays(inputs_)) {
    const track::count_array& array = track::all_counts::table[i];
    specs.push_back(
        {array.name, array.type, row_shape(array, inputs_.extents()), output_layout::items, array.unit, array.meaning});
  }
  return specs;
}

std::size_t streamline_groups::device_bytes_per_item() const {
  std::size_t bytes = 0;
  for (const output_spec& o : outputs()) bytes += o.bytes_per_item();
  return bytes;
}

std::unique_ptr<batch_runner> streamline_groups::make_runner() const {
  return std::make_unique<group_runner>(device_, inputs_, std::numeric_limits<std::uint64_t>::max(), matrix_);
}

std::unique_ptr<batch_runner> streamline_groups::make_probe(std::uint64_t streamlines) const {
  return std::make_unique<group_runner>(device_, inputs_, streamlines, drawn_matrix{});
}

std::uint64_t streamline_groups::parts_of_item(std::uint64_t group) const {
  const track::group_plan& plan = inputs_.draw_with_group(group).plan;
  return std::min(plan.per_group, plan.streamlines());
}

/// Batches of at most 256 MB of counts, and enough of them for several ranks.
std::uint64_t streamline_groups::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{256} << 20;
  return std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1, 16);
}

void group_collector::add(const batch& groups, std::span<const std::span<const std::byte>> outputs) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const std::size_t row = outputs[i].size() / groups.item_count;
    for (std::uint64_t g = 0; g < groups.item_count; ++g)
      sums_.add(arrays_[i], groups.first_item + g, outputs[i].subspan(g * row, row));
  }
}

}  // namespace voxherd
