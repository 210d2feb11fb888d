#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "core/analysis.hpp"
#include "core/device.hpp"

namespace voxherd::toy {

/// What happened on a small_device.
struct small_device_log {
  int refused = 0, released = 0;
  std::uint64_t largest = 0;  ///< items of the largest batch that was run
};

/// An analysis on a device whose memory has room for `max_items` items at once. Both arguments outlive it.
class small_device final : public voxherd::analysis {
 public:
  small_device(voxherd::analysis& inner, std::uint64_t max_items, small_device_log& log)
      : inner_(inner), max_items_(max_items), log_(log) {}

  std::string name() const override { return inner_.name(); }
  const image_grid& grid() const override { return inner_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return inner_.item_voxels(); }
  std::vector<output_spec> outputs() const override { return inner_.outputs(); }
  std::vector<constant> constants() const override { return inner_.constants(); }
  std::vector<std::uint64_t> point_offsets() const override { return inner_.point_offsets(); }
  bool may_be_empty() const override { return inner_.may_be_empty(); }
  item_input* input() override { return inner_.input(); }
  std::size_t device_bytes_per_item() const override { return inner_.device_bytes_per_item(); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<runner>(inner_.make_runner(), max_items_, log_);
  }

 private:
  class runner final : public batch_runner {
   public:
    runner(std::unique_ptr<batch_runner> inner, std::uint64_t max_items, small_device_log& log)
        : inner_(std::move(inner)), max_items_(max_items), log_(log) {}
    void run(const batch& items, std::span<const std::byte> input,
             std::span<const std::span<std::byte>> outputs) override {
      if (items.item_count > max_items_) {
        // A kernel may have written some of the results already.
        for (const auto& o : outputs) std::fill(o.begin(), o.end(), std::byte{0x55});
        ++log_.refused;
        throw device_out_of_memory("a small device for tests: out of memory");
      }
      log_.largest = std::max(log_.largest, items.item_count);
      inner_->run(items, input, outputs);
    }
    void release_memory() override { ++log_.released; }

   private:
    std::unique_ptr<batch_runner> inner_;
    std::uint64_t max_items_;
    small_device_log& log_;
  };

  voxherd::analysis& inner_;
  std::uint64_t max_items_;
  small_device_log& log_;
};

}  // namespace voxherd::toy
