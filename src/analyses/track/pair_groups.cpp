#include "src/analyses/track/pair_groups.hpp"

#include <algorithm>

namespace voxherd {

namespace {

class size_runner final : public batch_runner {
 public:
  explicit size_runner(std::unique_ptr<track::tracker> tracker) : tracker_(std::move(tracker)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    std::vector<track::pair_entry> pairs;
    for (std::size_t i = 0; i < items.item_count; ++i) {
      tracker_->track_pairs(items.first_item + i, pairs);
      output_array<std::uint64_t>(outputs, 0)[i] = pairs.size();
    }
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
};

class list_runner final : public batch_runner {
 public:
  explicit list_runner(std::unique_ptr<track::tracker> tracker) : tracker_(std::move(tracker)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    std::vector<track::pair_entry> pairs;
    std::size_t next = 0;
    for (std::size_t i = 0; i < items.item_count; ++i) {
      tracker_->track_pairs(items.first_item + i, pairs);
      for (const track::pair_entry& p : pairs) {
        output_array<std::uint64_t>(outputs, 0)[next] = p.key;
        output_array<std::uint64_t>(outputs, 1)[next] = p.count;
        output_array<std::uint64_t>(outputs, 2)[next++] = p.steps;
      }
    }
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
};

/// First of the entries [first, end), which are in the order of their keys, of row `row` or a later one.
std::uint64_t find_row(const result_reader& lists, std::uint64_t first, std::uint64_t end, std::uint64_t row) {
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (lists.read_rows<std::uint64_t>("key", middle, 1).front() >> 32 < row) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

void append_entries(const result_reader& lists, std::uint64_t first, std::uint64_t count,
                    std::vector<track::pair_entry>& entries) {
  if (count == 0) return;
  const auto key = lists.read_rows<std::uint64_t>("key", first, count);
  const auto streamlines = lists.read_rows<std::uint64_t>("count", first, count);
  const auto steps = lists.read_rows<std::uint64_t>("steps", first, count);
  for (std::size_t i = 0; i < key.size(); ++i) entries.push_back({key[i], streamlines[i], steps[i]});
}

}  // namespace

pair_items::pair_items(const pair_matrix& matrix, const track_inputs& in, const device& d)
    : matrix_(matrix), in_(in), device_(d) {
  for (std::uint64_t g = 0; g < in.plan.groups(); ++g) first_voxels_.push_back(in.seeds[in.plan.first_seed(g)].index);
}

std::unique_ptr<track::tracker> pair_items::make_pair_tracker() const {
  track::track_input view = make_matrix_view(matrix_.rows, in_);
  if (matrix_.has_own_columns()) view.pair_columns = matrix_.columns.view(in_.space);
  return track::make_tracker(device_, view);
}

std::vector<output_spec> pair_sizes::outputs() const {
  return {{"entries", element_type::uint64, {}, output_layout::items, "1", "pairs of the group"}};
}

std::unique_ptr<batch_runner> pair_sizes::make_runner() const {
  return std::make_unique<size_runner>(make_pair_tracker());
}

std::vector<output_spec> pair_lists::outputs() const {
  const auto number = [](const char* name, const char* unit, const char* meaning) {
    return output_spec{name, element_type::uint64, {}, output_layout::points, unit, meaning};
  };
  return {number("key", "1", "row times 2^32, and column"), number("count", "1", "streamlines that visit both"),
          number("steps", "steps", "sum of the lengths between them")};
}

std::unique_ptr<batch_runner> pair_lists::make_runner() const {
  return std::make_unique<list_runner>(make_pair_tracker());
}

/// A few rows at a time, so that only the result is kept in memory.
std::vector<track::pair_entry> add_pair_lists(const result_reader& lists, std::size_t rows) {
  constexpr std::uint64_t rows_at_once = 256;
  std::vector<std::uint64_t> next(lists.point_offsets().begin(), lists.point_offsets().end() - 1);
  std::vector<track::pair_entry> all, some;
  for (std::uint64_t row = 0; row < rows; row += rows_at_once) {
    some.clear();
    for (std::size_t g = 0; g < next.size(); ++g) {
      const std::uint64_t end = find_row(lists, next[g], lists.point_offsets()[g + 1], row + rows_at_once);
      append_entries(lists, next[g], end - next[g], some);
      next[g] = end;
    }
    track::reduce_pairs(some);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace voxherd
