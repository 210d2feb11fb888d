#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "core/device.hpp"
#include "tests/run/support/forwarded_analysis.hpp"

namespace voxherd::toy {

/// What happened on a small_device.
struct small_device_log {
  int refused = 0, released = 0;
  std::uint64_t largest = 0;  ///< items of the largest batch that was run
};

/// An analysis on a device whose memory has room for `max_items` items at once. Both arguments outlive it.
class small_device final : public forwarded_analysis {
 public:
  small_device(voxherd::analysis& inner, std::uint64_t max_items, small_device_log& log)
      : forwarded_analysis(inner), max_items_(max_items), log_(log) {}

  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<runner>(inner().make_runner(), max_items_, log_);
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

  std::uint64_t max_items_;
  small_device_log& log_;
};

}  // namespace voxherd::toy
