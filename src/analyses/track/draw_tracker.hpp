#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Draws streamlines of one draw after another: the next one's masks and seeds replace those of the last one.
class draw_tracker {
 public:
  /// `adapt`: changes what the tracker reads of a draw.
  draw_tracker(const track_inputs& in, const device& d, std::function<void(track::track_input&)> adapt)
      : masks_(in), device_(d), adapt_(std::move(adapt)) {}

  /// The tracker, for streamlines of this draw. It is made at the first call.
  track::tracker& begin(const track_draw& draw) {
    if (current_ == &draw) return *tracker_;
    current_ = nullptr;  // until all is changed
    track::track_input view = masks_.view(draw);
    adapt_(view);
    if (tracker_) {
      tracker_->change_streamlines(view);
    } else {
      tracker_ = track::make_tracker(device_, view);
    }
    current_ = &draw;
    return *tracker_;
  }
  void release_memory() {
    if (tracker_) tracker_->release_memory();
  }

 private:
  draw_masks masks_;
  device device_;
  std::function<void(track::track_input&)> adapt_;
  const track_draw* current_ = nullptr;
  std::unique_ptr<track::tracker> tracker_;
};

/// Calls use(draw, first, count) for the parts of items [first, first + count) that belong to one draw each. `draw_of`:
/// finds the draw of an item; `end_of`: the first item after those of a draw.
template <class DrawOf, class EndOf, class Use>
void for_each_draw(std::uint64_t first, std::uint64_t count, const DrawOf& draw_of, const EndOf& end_of,
                   const Use& use) {
  for (const std::uint64_t end = first + count; first < end;) {
    const track_draw& draw = draw_of(first);
    const std::uint64_t part = std::min(end, end_of(draw)) - first;
    use(draw, first, part);
    first += part;
  }
}

}  // namespace voxherd
