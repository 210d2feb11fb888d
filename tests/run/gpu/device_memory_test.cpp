#include <gtest/gtest.h>

#include <numeric>

#include "kernels/device/held_memory.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "mpi/run/lane_pool.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "tests/tensor/reference/tensor_case.hpp"

namespace {

using namespace voxherd;

constexpr std::size_t voxels = 1 << 19, distinct = 512;

/// Rows of a few hundred voxels, again and again.
class repeated_rows final : public item_input {
 public:
  repeated_rows() : gradients(reference::two_shells()), rows_(reference::uneven_voxels(gradients, distinct, false)) {
    grid_.size = {voxels, 1, 1};
    item_voxels_.resize(voxels);
    std::iota(item_voxels_.begin(), item_voxels_.end(), std::uint64_t{0});
  }
  const image_grid& grid() const { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const { return item_voxels_; }
  std::size_t bytes_per_item() const override { return gradients.size() * sizeof(float); }
  void load(const batch& items, std::span<std::byte> bytes) override {
    auto* const out = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < items.item_count * gradients.size(); ++i)
      out[i] = rows_[(items.first_item * gradients.size() + i) % rows_.size()];
  }
  void load_columns(const batch& items, std::span<std::byte> bytes) override {
    auto* out = reinterpret_cast<float*>(bytes.data());
    for (std::size_t k = 0; k < gradients.size(); ++k)
      for (std::size_t i = 0; i < items.item_count; ++i)
        *out++ = rows_[((items.first_item + i) * gradients.size() + k) % rows_.size()];
  }

  gradient_table gradients;

 private:
  std::vector<float> rows_;
  image_grid grid_;
  std::vector<std::uint64_t> item_voxels_;
};

/// A batch of all voxels with its results.
struct complete_batch {
  complete_batch(analysis& a) : items{0, 0, voxels}, specs(a.outputs()), input(voxels * a.input()->bytes_per_item()) {
    load_input(a, items, input);
    for (const output_spec& o : specs) results.emplace_back(voxels * o.bytes_per_item());
    for (auto& r : results) spans.emplace_back(r);
  }
  batch items;
  std::vector<output_spec> specs;
  std::vector<std::byte> input;
  std::vector<std::vector<std::byte>> results;
  std::vector<std::span<std::byte>> spans;
};

TEST(DeviceMemory, ABatchTooLargeForItGivesTheSameBytes) {
  std::string why;
  if (visible_gpus(&why).empty()) GTEST_SKIP() << "no GPU: " << why;
  const device gpu{backend::cuda, 1, 0};
  use_device(gpu);
  repeated_rows rows;
  voxelwise_analysis analysis("tensor", rows, gpu, tensor_estimator(rows.gradients, {}));
  complete_batch with_room(analysis), without(analysis);
  analysis.make_runner()->run(with_room.items, with_room.input, with_room.spans);

  // Leaves less than a third of what the batch needs.
  const std::size_t needed = voxels * analysis.device_bytes_per_item(), free_bytes = free_device_bytes(gpu);
  ASSERT_GT(free_bytes, needed);
  const auto held = hold_device_memory(free_bytes - needed / 3);
  EXPECT_THROW(analysis.make_runner()->run(without.items, without.input, without.spans), device_out_of_memory);
  piecewise_runner(analysis).run(without.items, without.input, without.spans, without.specs, {});

  EXPECT_EQ(without.results, with_room.results);
}

}  // namespace
