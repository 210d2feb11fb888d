#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "core/analysis.hpp"
#include "mpi/run/run.hpp"

namespace voxherd::toy {

/// A well-mixed number from an item's voxel (the finaliser of MurmurHash3), from which an item's values are computed.
inline std::uint64_t mixed(std::uint64_t voxel) {
  std::uint64_t h = voxel + 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

inline std::uint8_t label_of(std::uint64_t voxel) { return static_cast<std::uint8_t>(1 + mixed(voxel) % 200); }
inline float toy_value(std::uint64_t voxel, std::uint64_t component) {
  return static_cast<float>(mixed(1000 * voxel + component) % 100000) / 1000.0f;
}

inline constexpr std::uint64_t samples = 50;

/// An analysis whose values all follow from the voxel's index, on a mask of two thirds of the grid with empty slices at
/// both ends. Batches take uneven times, the first ones the longest.
class analysis : public voxherd::analysis, public item_input {
 public:
  explicit analysis(std::array<std::uint64_t, 3> size, std::chrono::microseconds slowest = {}, int lanes = 1)
      : slowest_(slowest), lanes_(lanes) {
    grid_.size = size;
    grid_.voxel_to_world = {-2, 0, 0, 90, 0, 2, 0, -126, 0, 0, 2.5, -72, 0, 0, 0, 1};
    grid_.voxel_size_mm = {2, 2, 2.5};
    const std::uint64_t slice = size[0] * size[1];
    const std::uint64_t first = size[2] > 2 ? slice : 0, end = size[2] > 2 ? slice * (size[2] - 1) : slice * size[2];
    for (std::uint64_t v = first; v < end; ++v) {
      if (mixed(v) % 3 != 0) voxels_.push_back(v);
    }
  }

  std::string name() const override { return "toy"; }
  const image_grid& grid() const override { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override {
    return {{"label", element_type::uint8, {}, output_layout::volume, "1", "a label"},
            {"value", element_type::float32, {}, output_layout::volume, "mm2/s", "a value"},
            {"draws", element_type::float32, {samples}, output_layout::items, "rad", "fifty values"},
            {"direction", element_type::float32, {3}, output_layout::volume, "1", "three values"}};
  }
  std::vector<constant> constants() const override {
    return {{"bvals", {4}, {0, 1000, 1000, 2000}, "s/mm2", "four b-values"}};
  }
  item_input* input() override { return this; }
  std::size_t bytes_per_item() const override { return sizeof(std::uint64_t); }
  std::size_t device_bytes_per_item() const override { return 256; }
  void load(const batch& items, std::span<std::byte> input) override {
    std::memcpy(input.data(), &voxels_[items.first_item], items.item_count * sizeof(std::uint64_t));
  }
  std::unique_ptr<batch_runner> make_runner() const override;
  int lanes() const override { return lanes_; }

  std::chrono::microseconds slowest() const { return slowest_; }

 private:
  image_grid grid_;
  std::vector<std::uint64_t> voxels_;
  std::chrono::microseconds slowest_;
  int lanes_;
};

class runner : public batch_runner {
 public:
  explicit runner(const analysis& a) : analysis_(a) {}
  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    const auto* voxels = reinterpret_cast<const std::uint64_t*>(input.data());
    auto* label = reinterpret_cast<std::uint8_t*>(outputs[0].data());
    auto* value = reinterpret_cast<float*>(outputs[1].data());
    auto* draws = reinterpret_cast<float*>(outputs[2].data());
    auto* direction = reinterpret_cast<float*>(outputs[3].data());
    for (std::uint64_t i = 0; i < items.item_count; ++i) {
      label[i] = label_of(voxels[i]);
      value[i] = toy_value(voxels[i], 0);
      for (std::uint64_t c = 0; c < 3; ++c) direction[3 * i + c] = toy_value(voxels[i], 1 + c);
      for (std::uint64_t k = 0; k < samples; ++k) draws[samples * i + k] = toy_value(voxels[i], 4 + k);
    }
    std::this_thread::sleep_for(analysis_.slowest() / (1 + items.number % 4));
  }

 private:
  const analysis& analysis_;
};

inline std::unique_ptr<batch_runner> analysis::make_runner() const { return std::make_unique<runner>(*this); }

inline device_hooks host_hooks() {
  device_hooks hooks;
  hooks.record.name = "test";
  hooks.allocate = [](std::size_t bytes) {
    return std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>());
  };
  return hooks;
}

inline run_settings quiet_settings(const std::string& out) {
  run_settings settings;
  settings.out = out;
  settings.quiet = true;
  settings.configuration = {{"seed", 1}};
  settings.provenance = {{"version", "0.0.0"}, {"inputs", {{"dwi", {{"xxh64", "00ff"}}}}}};
  return settings;
}

}  // namespace voxherd::toy
