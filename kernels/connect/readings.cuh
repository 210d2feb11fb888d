#pragma once

#include <algorithm>

#include "kernels/connect/cuda_memory.cuh"
#include "kernels/connect/readings.hpp"
#include "kernels/connect/region_summer.hpp"
#include "kernels/connect/solver_backends.hpp"

namespace voxherd::connect {

/// Reads the results of fronts solved on a GPU. Waits for the stream.
class cuda_readings {
 public:
  cuda_readings(const solver_parts& parts, const cuda_lattice& where, const cuda_stream& stream)
      : parts_(&parts), where_(&where), stream_(&stream) {}

  void set_fronts(const start_list& fronts) {
    fronts_ = fronts;
    started_.clear();
  }

  void set_regions(const region_list& regions) {
    const region_cells cells = find_region_cells(parts_->where, regions);
    const std::vector<std::uint32_t> numbers = number_of_cell(parts_->where);
    regions_ = static_cast<std::uint32_t>(cells.regions());
    offset_ = copied(cells.offset, *stream_);
    cell_ = copied(cells.cell, *stream_);
    if (number_of_cell_.size() == 0) number_of_cell_ = copied(numbers, *stream_);
    stream_->wait();
  }

  void region_costs(const float* arrival, region_cost* to) const {
    const std::size_t n = fronts_.fronts() * regions_;
    if (n == 0) return;
    device_buffer<region_cost> costs(n);
    each_on_gpu(*stream_, static_cast<std::uint32_t>(n),
                region_summer{arrival, parts_->where.cells(), regions_, offset_.data(), cell_.data(),
                              number_of_cell_.data(), costs.data()});
    fetch(costs, to);
  }

  void score(const float* arrival, std::span<const path_request> paths, const path_settings& settings,
             path_score* to) const {
    device_buffer<path_score> scores(paths.size());
    follow(arrival, paths, settings, scores.data(), nullptr, nullptr);
    fetch(scores, to);
  }

  void trace(const float* arrival, std::span<const path_request> paths, const path_settings& settings,
             std::span<const std::uint64_t> offsets, float* world_mm) const {
    if (paths.empty()) return;
    const auto places = voxherd::copied(offsets.data(), offsets.size(), *stream_);
    device_buffer<float> points(3 * (offsets.back() - offsets.front()));
    follow(arrival, paths, settings, nullptr, places.data(), points.data());
    fetch(points, world_mm);
  }

 private:
  static constexpr std::size_t flow_bytes = std::size_t{1} << 29;

  template <class T>
  void fetch(const device_buffer<T>& from, T* to) const {
    if (from.size() > 0)
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyDeviceToHost, *stream_));
    stream_->wait();
  }

  void follow(const float* arrival, std::span<const path_request> paths, const path_settings& settings,
              path_score* scores, const std::uint64_t* offsets, float* world_mm) const {
    const lattice& l = parts_->where;
    check_paths(paths, fronts_.fronts(), l.cell_of_number.size(), settings);
    if (paths.empty()) return;
    if (started_.empty()) started_ = find_front_starts(l, fronts_);
    const auto started = copied(started_, *stream_);
    const auto requests = voxherd::copied(paths.data(), paths.size(), *stream_);
    const std::uint32_t all = static_cast<std::uint32_t>(fronts_.fronts()), most = fronts_at_once(l, all, flow_bytes);
    flows_.reserve(most * l.cells());
    path_follower f = make_follower(settings, parts_->axes_mm, parts_->origin_mm);
    f.lattice = where_->view();
    f.flows = flows_.data();
    f.started = started.data();
    f.requests = requests.data();
    f.cell_of_number = where_->cell_of_number();
    f.scores = scores;
    f.offsets = offsets;
    f.world_mm = world_mm;
    for (f.first = 0; f.first < all; f.first += most) {
      f.fronts = std::min(most, all - f.first);
      if (!any_of_fronts(paths, f.first, f.fronts)) continue;
      each_on_gpu(*stream_, static_cast<std::uint32_t>(f.fronts * l.cells()),
                  flow_maker{where_->view(), arrival, f.first, flows_.data()});
      each_on_gpu(*stream_, static_cast<std::uint32_t>(paths.size()), f);
    }
    stream_->wait();  // before `started` and `requests` are destroyed
  }

  const solver_parts* parts_;
  const cuda_lattice* where_;
  const cuda_stream* stream_;
  start_list fronts_;
  mutable std::vector<front_start> started_;
  std::uint32_t regions_ = 0;
  device_buffer<std::uint64_t> offset_;
  device_buffer<std::uint32_t> cell_, number_of_cell_;
  mutable device_buffer<flow> flows_;
};

}  // namespace voxherd::connect
