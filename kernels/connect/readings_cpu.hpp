#pragma once

#include <algorithm>
#include <stdexcept>

#include "kernels/connect/readings.hpp"
#include "kernels/connect/region_summer.hpp"
#include "kernels/connect/solver_backends.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

/// Reads the results of fronts solved on CPU threads.
class cpu_readings {
 public:
  cpu_readings(const solver_parts& parts, int threads) : parts_(&parts), threads_(threads) {}

  void set_fronts(const start_list& fronts) {
    fronts_ = fronts;
    started_.clear();
  }

  void set_regions(const region_list& regions) {
    regions_ = find_region_cells(parts_->where, regions);
    if (number_of_cell_.empty()) number_of_cell_ = number_of_cell(parts_->where);
  }

  void region_costs(const float* arrival, region_cost* to) const {
    const auto regions = static_cast<std::uint32_t>(regions_.regions());
    if (regions == 0) return;
    each_on_cpu(threads_, static_cast<std::uint32_t>(fronts_.fronts() * regions),
                region_summer{arrival, parts_->where.cells(), regions, regions_.offset.data(), regions_.cell.data(),
                              number_of_cell_.data(), to});
  }

  /// Computes scores, or points if `world_mm` is not null.
  void follow(const float* arrival, std::span<const path_request> paths, const path_settings& settings,
              path_score* scores, const std::uint64_t* offsets, float* world_mm) const {
    const lattice& l = parts_->where;
    check_paths(paths, fronts_.fronts(), l.cell_of_number.size(), settings);
    if (paths.empty()) return;
    if (started_.empty()) started_ = find_front_starts(l, fronts_);
    const std::uint32_t all = static_cast<std::uint32_t>(fronts_.fronts()), most = fronts_at_once(l, all, flow_bytes);
    std::vector<flow> flows(most * l.cells());
    path_follower f = make_follower(settings, parts_->axes_mm, parts_->origin_mm);
    f.lattice = l.view();
    f.flows = flows.data();
    f.started = started_.data();
    f.requests = paths.data();
    f.cell_of_number = l.cell_of_number.data();
    f.scores = scores;
    f.offsets = offsets;
    f.world_mm = world_mm;
    for (f.first = 0; f.first < all; f.first += most) {
      f.fronts = std::min(most, all - f.first);
      if (!any_of_fronts(paths, f.first, f.fronts)) continue;
      each_on_cpu(threads_, static_cast<std::uint32_t>(f.fronts * l.cells()),
                  flow_maker{l.view(), arrival, f.first, flows.data()});
      each_on_cpu(threads_, static_cast<std::uint32_t>(paths.size()), f);
    }
  }

 private:
  static constexpr std::size_t flow_bytes = std::size_t{1} << 26;

  const solver_parts* parts_;
  int threads_;
  start_list fronts_;
  mutable std::vector<front_start> started_;
  region_cells regions_;
  std::vector<std::uint32_t> number_of_cell_;
};

}  // namespace voxherd::connect
