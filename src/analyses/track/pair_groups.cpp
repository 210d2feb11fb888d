#include "src/analyses/track/pair_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

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

/// Each thread adds a few rows at a time, so that little more than the result is in memory.
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

}  // namespace voxherd
