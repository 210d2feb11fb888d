#include "src/analyses/track/matrix_rows.hpp"

#include <algorithm>

namespace voxherd {

namespace {

class size_runner final : public batch_runner {
 public:
  explicit size_runner(std::unique_ptr<track::tracker> tracker) : tracker_(std::move(tracker)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    track::sparse_rows rows;
    tracker_->track_rows(items.first_item, items.item_count, rows);
    auto* sizes = output_array<std::uint32_t>(outputs, 0);
    for (std::size_t i = 0; i < items.item_count; ++i)
      sizes[i] = static_cast<std::uint32_t>(rows.begin[i + 1] - rows.begin[i]);
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
};

class row_runner final : public batch_runner {
 public:
  row_runner(std::unique_ptr<track::tracker> tracker, bool lengths, double step_mm)
      : tracker_(std::move(tracker)), lengths_(lengths), step_mm_(step_mm) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    track::sparse_rows rows;
    tracker_->track_rows(items.first_item, items.item_count, rows);
    std::copy(rows.column.begin(), rows.column.end(), output_array<std::uint32_t>(outputs, 0));
    std::copy(rows.count.begin(), rows.count.end(), output_array<std::uint32_t>(outputs, 1));
    if (!lengths_) return;
    auto* sums = output_array<double>(outputs, 2);
    for (const std::uint64_t steps : rows.steps) *sums++ = static_cast<double>(steps) * step_mm_;
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
  bool lengths_;
  double step_mm_;
};

}  // namespace

matrix_items::matrix_items(const seed_matrix& matrix, const track_inputs& in, const device& d)
    : matrix_(matrix), in_(in), device_(d) {
  for (const track::seed& s : in.seeds) voxels_.push_back(s.index);
}

/// A row is dense while it is counted.
std::size_t matrix_items::device_bytes_per_item() const {
  return matrix_.voxels.size() * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
}

/// Few rows for a batch, so that ranks share the work evenly, but enough streamlines for a GPU.
std::uint64_t matrix_items::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{1} << 30, streamlines = std::uint64_t{1} << 20;
  return std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1,
                                   std::max<std::uint64_t>(127, streamlines / in_.plan.per_seed));
}

std::unique_ptr<track::tracker> matrix_items::make_row_tracker() const {
  return track::make_tracker(device_, make_matrix_view(matrix_, in_));
}

std::vector<output_spec> matrix_sizes::outputs() const {
  return {{"entries", element_type::uint32, {}, output_layout::items, "1", "entries of the row"}};
}

std::unique_ptr<batch_runner> matrix_sizes::make_runner() const {
  return std::make_unique<size_runner>(make_row_tracker());
}

std::unique_ptr<batch_runner> matrix_rows::make_runner() const {
  return std::make_unique<row_runner>(make_row_tracker(), in_.lengths, in_.step_mm);
}

}  // namespace voxherd
