#pragma once

#include <algorithm>
#include <vector>

#include "kernels/perfusion/lane_fit.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::perfusion {

/// Interleaved samples of some voxels of a tile: [frame][lane]; lanes after the last voxel contain zeros.
template <int Lanes>
class lane_columns {
 public:
  explicit lane_columns(int frames) : values_(static_cast<std::size_t>(frames * Lanes)) {}

  void take(const fit_arrays& a, std::size_t first) {
    used_ = static_cast<int>(std::min<std::size_t>(Lanes, a.count - first));
    const auto frames = static_cast<std::size_t>(a.frames);
    for (std::size_t i = 0; i < frames; ++i)
      for (std::size_t l = 0; l < Lanes; ++l)
        values_[i * Lanes + l] = l < static_cast<std::size_t>(used_) ? a.samples[(first + l) * frames + i] : 0.0f;
  }
  voxel_samples samples() const { return {values_.data(), Lanes}; }
  int used() const { return used_; }

 private:
  std::vector<float> values_;
  int used_ = 0;
};

/// The lanes of one CPU thread, which fit the items of a tile in turn (see fit_on_lanes).
template <class Number, int Count>
class cpu_lanes {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  using mask = typename lane::lane_traits<Number>::mask;
  static constexpr int count = lane::lane_traits<Number>::count;

  explicit cpu_lanes(const fit_arrays& a) : a_(a), values_(static_cast<std::size_t>(a.frames) * count) {}

  bool any(const mask& m) const { return lane::any(m); }
  bool enough(const mask& waiting, const mask&, int) const { return lane::any(waiting); }
  voxel_samples samples() const { return {values_.data(), count}; }
  const Number (&start() const)[Count] { return start_; }

  mask take(const mask& waiting, mask& none_left) {
    mask fresh(false);
    for (int l = 0; l < count; ++l) {
      if (!lane::get(waiting, l)) continue;
      while (next_ < a_.items() && a_.status[next_ % a_.count] != 0) ++next_;
      if (next_ >= a_.items()) {
        lane::put(none_left, l, true);
        continue;
      }
      item_[l] = next_++;
      begin(l);
      lane::put(fresh, l, true);
    }
    return fresh;
  }

  template <class Machine>
  void keep(const mask& ended, const Machine& machine) {
    for (int l = 0; l < count; ++l)
      if (lane::get(ended, l))
        keep_item<Count>(machine, l, a_, static_cast<int>(item_[l] / a_.count), item_[l] % a_.count);
  }

 private:
  void begin(int l) {
    const std::size_t voxel = item_[l] % a_.count;
    const int from = static_cast<int>(item_[l] / a_.count);
    const float* row = a_.samples + voxel * static_cast<std::size_t>(a_.frames);
    for (int i = 0; i < a_.frames; ++i) values_[static_cast<std::size_t>(i * count + l)] = row[i];
    for (int i = 0; i < Count; ++i)
      lane::put(start_[i], l, static_cast<scalar>(a_.p[static_cast<std::size_t>(from * Count + i) * a_.count + voxel]));
  }

  const fit_arrays& a_;
  std::vector<float> values_;  ///< [frame][lane]
  Number start_[Count] = {};
  std::size_t item_[count] = {};
  std::size_t next_ = 0;
};

}  // namespace voxherd::perfusion
