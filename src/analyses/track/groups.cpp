#include "src/analyses/track/groups.hpp"

#include <algorithm>

namespace voxherd {

namespace {

class group_runner final : public batch_runner {
 public:
  group_runner(std::unique_ptr<track::tracker> tracker, const track_inputs& in)
      : tracker_(std::move(tracker)),
        lengths_(in.lengths),
        directions_(in.directions),
        columns_(in.columns() > 0),
        bits_(in.max_kept > 0) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    std::size_t next = 0;
    track::counters to;
    to.density = output_array<std::uint32_t>(outputs, next++);
    to.accepted = output_array<std::uint32_t>(outputs, next++);
    to.walked = output_array<std::uint64_t>(outputs, next++);
    if (lengths_) to.length = output_array<std::uint64_t>(outputs, next++);
    if (columns_) to.hits = output_array<std::uint32_t>(outputs, next++);
    if (columns_ && lengths_) to.hit_length = output_array<std::uint64_t>(outputs, next++);
    if (directions_) to.directions = output_array<std::uint64_t>(outputs, next++);
    if (bits_) to.accepted_bits = output_array<std::uint32_t>(outputs, next++);
    tracker_->track(items.first_item, items.item_count, to);
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
  bool lengths_, directions_, columns_, bits_;
};

}  // namespace

streamline_groups::streamline_groups(const track_inputs& inputs, const device& d) : inputs_(inputs), device_(d) {
  for (std::uint64_t g = 0; g < inputs.plan.groups(); ++g)
    first_voxels_.push_back(inputs.seeds[inputs.plan.first_seed(g)].index);
}

std::vector<output_spec> streamline_groups::outputs() const {
  const auto row = [](const char* name, element_type type, std::vector<std::uint64_t> shape, const char* unit,
                      const char* meaning) {
    return output_spec{name, type, std::move(shape), output_layout::items, unit, meaning};
  };
  constexpr auto count = element_type::uint32, sum = element_type::uint64;
  const std::uint64_t places = inputs_.place_voxels.size(), seeds = inputs_.plan.seed_rows(),
                      columns = inputs_.columns();
  std::vector<output_spec> all = {
      row("density", count, {places}, "1", "accepted streamlines that visit each place"),
      row("accepted", count, {seeds}, "1", "accepted streamlines of each seed of the group"),
      row("walked", sum, {}, "1", "steps of all streamlines"),
  };
  if (inputs_.lengths) all.push_back(row("length", sum, {places}, "steps", "sum of the lengths from the seed"));
  if (columns > 0)
    all.push_back(row("hits", count, {seeds, columns}, "1", "accepted streamlines to each region or target"));
  if (columns > 0 && inputs_.lengths)
    all.push_back(row("hit_length", sum, {seeds, columns}, "steps", "sum of their lengths to it"));
  if (inputs_.directions)
    all.push_back(row("directions", sum, {places, track::direction_products}, "1", "sums of products of components"));
  if (inputs_.max_kept > 0)
    all.push_back(row("accepted_bits", count, {track::bit_words(inputs_.plan.per_group)}, "1",
                      "one bit per streamline: it is accepted"));
  return all;
}

std::size_t streamline_groups::device_bytes_per_item() const {
  std::size_t bytes = 0;
  for (const output_spec& o : outputs()) bytes += o.bytes_per_item();
  return bytes;
}

std::unique_ptr<batch_runner> streamline_groups::make_runner() const {
  return std::make_unique<group_runner>(track::make_tracker(device_, inputs_.view()), inputs_);
}

/// Batches of at most 256 MB of counts, and enough of them for several ranks.
std::uint64_t streamline_groups::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{256} << 20;
  return std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1, 16);
}

}  // namespace voxherd
