#pragma once

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "core/analysis.hpp"
#include "tests/run/support/toy_analysis.hpp"

namespace voxherd::toy {

/// Points of fibre `id`: one in seven has none, one in seven has one, the others up to 60.
inline std::uint64_t count_points(std::uint64_t id) {
  const std::uint64_t m = mixed(id + 77);
  return m % 7 == 0 ? 0 : m % 7 == 1 ? 1 : m / 7 % 60;
}
inline float candidate_score(std::uint64_t id) { return toy_value(id, 900); }

/// Fibres by number, in any order, with a number of points that follows from the number: outputs of variable length.
/// Needs no input; many fibres are in one voxel; having none is not an error.
class ragged : public voxherd::analysis {
 public:
  explicit ragged(std::vector<std::uint64_t> ids, std::chrono::microseconds slowest = {}, int lanes = 1)
      : ids_(std::move(ids)), slowest_(slowest), lanes_(lanes) {
    grid_.size = {4, 3, 2};
    grid_.voxel_to_world = {-2, 0, 0, 90, 0, 2, 0, -126, 0, 0, 2.5, -72, 0, 0, 0, 1};
    grid_.voxel_size_mm = {2, 2, 2.5};
    for (const std::uint64_t id : ids_) voxels_.push_back(mixed(id) % grid_.voxel_count());
  }

  std::string name() const override { return "ragged"; }
  const image_grid& grid() const override { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<std::uint64_t> point_offsets() const override {
    std::vector<std::uint64_t> offsets{0};
    for (const std::uint64_t id : ids_) offsets.push_back(offsets.back() + count_points(id));
    return offsets;
  }
  std::vector<output_spec> outputs() const override {
    using enum output_layout;
    return {{"measure", element_type::float32, {}, items, "1", "one value per item"},
            {"position", element_type::float32, {3}, points, "mm", "positions, world RAS+"},
            {"ends", element_type::int32, {2}, items, "label", "two numbers per item, one negative"},
            {"FA", element_type::float32, {}, points, "1", "one value per point"},
            {"steps", element_type::uint32, {}, items, "1", "one large number per item"},
            {"verdict", element_type::uint8, {}, items, "code", "one small number per item"},
            {"hit", element_type::uint8, {}, points, "code", "one small number per point"},
            {"matrix", element_type::float32, {2, 2}, items, "1", "with a shape that VTK cannot read"},
            {"frame", element_type::float64, {3, 3}, points, "1", "with a shape that VTK cannot read"}};
  }
  std::vector<constant> constants() const override {
    return {{"bvals", {4}, {0, 1000, 1000, 2000}, "s/mm2", "four b-values"},
            {"count", {2, 2}, {0, 7, 7, 0}, "1", "fibres between two regions", "connectome"},
            {"best", {2, 2}, {0, 0.5, 0.5, 0}, "1", "best measure between two regions", "connectome"}};
  }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override { return 256; }
  std::unique_ptr<batch_runner> make_runner() const override;
  int lanes() const override { return lanes_; }

  const std::vector<std::uint64_t>& ids() const { return ids_; }
  std::chrono::microseconds slowest() const { return slowest_; }

 private:
  std::vector<std::uint64_t> ids_;
  image_grid grid_;
  std::vector<std::uint64_t> voxels_;
  std::chrono::microseconds slowest_;
  int lanes_;
};

/// The outputs of a batch, written one value after another.
class ragged_runner : public batch_runner {
 public:
  explicit ragged_runner(const ragged& a) : analysis_(a) {}
  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    std::vector<std::byte*> to;
    for (const auto& o : outputs) to.push_back(o.data());
    const auto put = [&](std::size_t output, auto value) {
      std::memcpy(to[output], &value, sizeof value);
      to[output] += sizeof value;
    };
    for (std::uint64_t i = items.first_item; i < items.first_item + items.item_count; ++i) {
      const std::uint64_t id = analysis_.ids()[i];
      put(0, toy_value(id, 0));
      put(2, static_cast<std::int32_t>(id % 5));
      put(2, -static_cast<std::int32_t>(id % 7));
      put(4, static_cast<std::uint32_t>(4000000000u + id));
      put(5, static_cast<std::uint8_t>(id % 6));
      for (std::uint64_t k = 0; k < 4; ++k) put(7, toy_value(id, 10 + k));
      for (std::uint64_t p = 0; p < count_points(id); ++p) {
        for (std::uint64_t c = 0; c < 3; ++c) put(1, toy_value(id, 100 + 3 * p + c));
        put(3, toy_value(id, 400 + p));
        put(6, static_cast<std::uint8_t>((id + p) % 200));
        for (std::uint64_t k = 0; k < 9; ++k) put(8, static_cast<double>(toy_value(id, 500 + 9 * p + k)));
      }
    }
    // The batch's storage must be filled exactly.
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (to[o] != outputs[o].data() + outputs[o].size())
        throw std::logic_error("the toy received output arrays of a wrong size");
    }
    std::this_thread::sleep_for(analysis_.slowest() / (1 + items.number % 4));
  }

 private:
  const ragged& analysis_;
};

inline std::unique_ptr<batch_runner> ragged::make_runner() const { return std::make_unique<ragged_runner>(*this); }

/// The first step: one score per candidate; those above a threshold become fibres of `ragged`.
class scores : public voxherd::analysis {
 public:
  scores(std::uint64_t candidates, std::chrono::microseconds slowest) : slowest_(slowest) {
    grid_.size = {4, 3, 2};
    voxels_.assign(candidates, 5);
  }
  std::string name() const override { return "ragged scores"; }
  const image_grid& grid() const override { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override {
    return {{"score", element_type::float32, {}, output_layout::items, "1", "one value per candidate"}};
  }
  std::size_t device_bytes_per_item() const override { return 16; }
  std::unique_ptr<batch_runner> make_runner() const override {
    class scorer : public batch_runner {
     public:
      explicit scorer(std::chrono::microseconds slowest) : slowest_(slowest) {}
      void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
        auto* score = reinterpret_cast<float*>(outputs[0].data());
        for (std::uint64_t i = 0; i < items.item_count; ++i) score[i] = candidate_score(items.first_item + i);
        std::this_thread::sleep_for(slowest_ / (1 + items.number % 4));
      }

     private:
      std::chrono::microseconds slowest_;
    };
    return std::make_unique<scorer>(slowest_);
  }

 private:
  image_grid grid_;
  std::vector<std::uint64_t> voxels_;
  std::chrono::microseconds slowest_;
};

/// The numbers of the candidates with a score of at least `least` (0 to 100), best first.
inline std::vector<std::uint64_t> winners(const std::vector<float>& score, float least) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < score.size(); ++i) {
    if (score[i] >= least) ids.push_back(i);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](std::uint64_t a, std::uint64_t b) { return score[a] > score[b]; });
  return ids;
}

}  // namespace voxherd::toy
