#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/cube_block.hpp"
#include "kernels/connect/cuda_speeds.cuh"
#include "kernels/connect/front_steps.hpp"
#include "kernels/connect/fronts.hpp"
#include "kernels/connect/paper/godunov27.hpp"
#include "kernels/connect/paper/hopf_lax26.hpp"
#include "kernels/connect/path.hpp"
#include "kernels/connect/readings.hpp"
#include "kernels/connect/round_kernel.cuh"
#include "kernels/connect/second_order_block.hpp"
#include "kernels/connect/selling_block.hpp"
#include "kernels/device/launch.cuh"

namespace voxherd::connect {

template <class T>
device_buffer<T> copied(const std::vector<T>& from, cudaStream_t stream) {
  return voxherd::copied(from.data(), from.size(), stream);
}

class cuda_fronts {
 public:
  /// Allocates space for `fronts` fronts; the previous contents are lost.
  front_view reserve(std::uint32_t fronts, std::uint32_t blocks, int order, bool in_place) {
    const std::size_t n = std::size_t{fronts} * blocks;
    value_.reserve(std::size_t{fronts} * 2 * (blocks + 1) * block_cells);
    state_.reserve(n);
    for (auto& t : trigger_) t.reserve(n);
    for (auto& l : min_) l.reserve(fronts);
    if (order == 2) choice_.reserve(n * block_cells);
    return {fronts,
            blocks,
            value_.data(),
            state_.data(),
            {trigger_[0].data(), trigger_[1].data()},
            {min_[0].data(), min_[1].data(), min_[2].data()},
            choice_.data(),
            in_place};
  }

  /// Empty lists of awake blocks.
  round_lists empty_lists(std::uint32_t fronts, std::uint32_t blocks, cudaStream_t stream) {
    const std::size_t entries = std::size_t{fronts} * blocks;
    for (auto& l : entry_) l.reserve(entries);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(count_.data(), 0, 3 * sizeof(unsigned long long), stream));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(taken_.data(), 0, 3 * sizeof(std::uint32_t), stream));
    limit_.reserve(std::size_t{2} * fronts);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(limit_.data(), 0, std::size_t{2} * fronts * sizeof(float), stream));
    return {{entry_[0].data(), entry_[1].data()},
            {count_.data(), count_.data() + 1, count_.data() + 2},
            {taken_.data(), taken_.data() + 1, taken_.data() + 2},
            {limit_.data(), limit_.data() + fronts}};
  }

 private:
  device_buffer<float> value_, trigger_[2], min_[3], limit_;
  device_buffer<std::uint32_t> state_, choice_, entry_[2];
  device_buffer<unsigned long long> count_{3};
  device_buffer<std::uint32_t> taken_{3};
};

/// Reads the results of fronts solved on a GPU. Waits for the stream.
class cuda_readings {
 public:
  cuda_readings(const solver_parts& parts, const cuda_speeds& speeds, const cuda_stream& stream)
      : parts_(&parts), speeds_(&speeds), stream_(&stream) {}

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
    costs_.reserve(n);
    each_on_gpu(*stream_, static_cast<std::uint32_t>(n),
                region_summer{arrival, parts_->where.cells(), regions_, offset_.data(), cell_.data(),
                              number_of_cell_.data(), costs_.data()});
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, costs_.data(), n * sizeof(region_cost), cudaMemcpyDeviceToHost, *stream_));
    stream_->wait();
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
    if (started_.empty()) started_ = find_front_starts(speeds_->on_host(), l.cell_of_number, fronts_);
    const auto started = copied(started_, *stream_);
    const auto requests = voxherd::copied(paths.data(), paths.size(), *stream_);
    const std::uint32_t all = static_cast<std::uint32_t>(fronts_.fronts()), most = fronts_at_once(l, all, flow_bytes);
    flows_.reserve(most * l.cells());
    path_follower f = make_follower(settings, parts_->axes_mm, parts_->origin_mm);
    f.lattice = speeds_->where();
    f.flows = flows_.data();
    f.started = started.data();
    f.requests = requests.data();
    f.cell_of_number = speeds_->cell_of_number();
    f.scores = scores;
    f.offsets = offsets;
    f.world_mm = world_mm;
    for (f.first = 0; f.first < all; f.first += most) {
      f.fronts = std::min(most, all - f.first);
      if (!any_of_fronts(paths, f.first, f.fronts)) continue;
      each_on_gpu(*stream_, static_cast<std::uint32_t>(f.fronts * l.cells()),
                  flow_maker{speeds_->where(), arrival, f.first, flows_.data()});
      each_on_gpu(*stream_, static_cast<std::uint32_t>(paths.size()), f);
    }
    stream_->wait();  // before `started` and `requests` are destroyed
  }

  const solver_parts* parts_;
  const cuda_speeds* speeds_;
  const cuda_stream* stream_;
  start_list fronts_;
  mutable std::vector<front_start> started_;
  std::uint32_t regions_ = 0;
  device_buffer<std::uint64_t> offset_;
  device_buffer<std::uint32_t> cell_, number_of_cell_;
  mutable device_buffer<flow> flows_;
  mutable device_buffer<region_cost> costs_;
};

namespace {

/// How far blocks may be ahead of the earliest one, in voxels. A narrow front makes few useless visits, a wide one
/// needs fewer rounds; it is narrow if its blocks fill the device several times. Nearest-neighbour schemes correct
/// themselves for so long that a wide front is better in small volumes. Depends only on the front's number of blocks,
/// so that results do not depend on which fronts are solved for together.
constexpr std::uint32_t blocks_that_fill = 20000, blocks_that_fill_with_cubes = 6000;
constexpr float narrow_cut_voxels = 8, wide_cut_voxels = 16, growth_voxels = 0.5;
constexpr int inner_iterations = 4;

/// Copies a front's arrival times to voxel order, infinity where unreached.
struct arrival_sorter {
  const float* arrival;  ///< arrival times of one front, by cell
  const std::uint32_t* cell_of_number;
  float* to;

  __device__ void operator()(std::uint32_t i) const {
    const float u = arrival[cell_of_number[i]];
    to[i] = u < unreached ? u : std::numeric_limits<float>::infinity();
  }
};

class cuda_solver final : public solver {
 public:
  cuda_solver(const device& d, solver_parts&& parts)
      : parts_(std::move(parts)), speeds_(parts_, d.threads, stream_), counts_(1) {}

  void set_speeds(const float* tensors) override { speeds_.set(tensors); }

  void set_host_speeds(std::span<const float> tensors) {
    const auto on_device = voxherd::copied(tensors.data(), tensors.size(), stream_);
    set_speeds(on_device.data());
    speeds_.free_scratch();
  }

  std::uint64_t voxels() const override { return parts_.where.cell_of_number.size(); }
  std::uint64_t blocks() const override { return parts_.where.blocks; }

  solve_report solve(const start_list& list) override {
    if (speeds_.typical_cost() == 0) throw std::logic_error("connect: solve() before set_speeds()");
    const auto count = static_cast<std::uint32_t>(list.fronts());
    const std::size_t cells = count * parts_.where.cells();
    if (cells >> 32 != 0) throw std::invalid_argument("connect: too many fronts at once for this number of voxels");
    const front_view f = fronts_.reserve(count, parts_.where.blocks, parts_.settings.order, parts_.settings.in_place);
    arrival_.reserve(cells);
    readings_.set_fronts(list);
    std::vector<start_cell> starts;
    for (std::uint32_t k = 0; k < count; ++k)
      for (std::uint64_t i = list.offsets[k]; i < list.offsets[k + 1]; ++i)
        starts.push_back({k, checked_cell(parts_.where, list.starts[i]), list.starts[i].arrival});
    starts_.reserve(starts.size());
    if (!starts.empty())
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(starts_.data(), starts.data(), starts.size() * sizeof(start_cell),
                                         cudaMemcpyHostToDevice, stream_));

    begin_.record(stream_);
    each_on_gpu(stream_, count * (f.blocks + 1), front_clearer{f});
    const auto n = static_cast<std::uint32_t>(starts.size());
    each_on_gpu(stream_, n, front_starter<cuda_thread_team>{{}, f, starts_.data()});
    each_on_gpu(stream_, n, front_waker<cuda_thread_team>{{}, f, speeds_.graph(), starts_.data(), 1});
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, sizeof(round_counts), stream_));
    run_first_order(f);
    if (parts_.settings.order == 2) {
      each_on_gpu(stream_, static_cast<std::uint32_t>(cells), second_order_chooser{f, speeds_.graph(), 0});
      each_on_gpu(stream_, n, start_fixer{f, starts_.data()});
      const std::uint32_t round = counts().next_round;
      each_on_gpu(stream_, n, front_waker<cuda_thread_team>{{}, f, speeds_.graph(), starts_.data(), round});
      run(f, second_order_scheme{speeds_.where().weight}, round);
    }
    each_on_gpu(stream_, static_cast<std::uint32_t>(cells), arrival_gatherer{f, arrival_.data()});
    end_.record(stream_);
    const round_counts last = counts();
    return {end_.seconds_since(begin_), last.visits, last.next_round, last.next_round < max_rounds};
  }

  void arrivals(std::size_t first, std::size_t count, float* to) const override {
    const auto n = static_cast<std::uint32_t>(voxels());
    sorted_.reserve(n);
    for (std::size_t k = first; k < first + count; ++k, to += n) {
      each_on_gpu(stream_, n,
                  arrival_sorter{arrival_.data() + k * parts_.where.cells(), speeds_.cell_of_number(), sorted_.data()});
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, sorted_.data(), n * sizeof(float), cudaMemcpyDeviceToHost, stream_));
      stream_.wait();
    }
  }

  void set_regions(const region_list& regions) override { readings_.set_regions(regions); }
  void region_costs(region_cost* to) const override { readings_.region_costs(arrival_.data(), to); }
  void score_paths(std::span<const path_request> paths, const path_settings& settings, path_score* to) const override {
    readings_.score(arrival_.data(), paths, settings, to);
  }
  void trace_paths(std::span<const path_request> paths, const path_settings& settings,
                   std::span<const std::uint64_t> offsets, float* world_mm) const override {
    readings_.trace(arrival_.data(), paths, settings, offsets, world_mm);
  }

 private:
  void run_first_order(const front_view& f) {
    switch (parts_.settings.scheme) {
      case scheme_kind::selling:
        return run(f, selling_scheme{speeds_.where().weight}, 1);
      case scheme_kind::godunov27:
        return run(f, cube_scheme<godunov27_local>{speeds_.where().tensor}, 1);
      case scheme_kind::hl26:
        return run(f, cube_scheme<hopf_lax26_local>{speeds_.where().tensor}, 1);
    }
  }

  template <class Scheme>
  float cut_for(const front_view& f) const {
    if (Scheme::values == cube_cells)
      return f.blocks > blocks_that_fill_with_cubes ? wide_cut_voxels * speeds_.typical_cost() : unreached;
    return (f.blocks > blocks_that_fill ? narrow_cut_voxels : wide_cut_voxels) * speeds_.typical_cost();
  }

  template <class Scheme>
  void run(const front_view& f, const Scheme& scheme, std::uint32_t round) {
    const round_rules rules{round, solve_tolerance(Scheme::order, parts_.settings), cut_for<Scheme>(f),
                            growth_voxels * speeds_.typical_cost(), inner_iterations};
    const std::uint32_t entries = f.fronts * f.blocks;
    const round_lists lists = fronts_.empty_lists(f.fronts, f.blocks, stream_);
    each_on_gpu(stream_, entries, list_starter{f, lists, round});
    launch_rounds<Scheme>({speeds_.graph(), f, rules, scheme}, lists, round, max_rounds, counts_.data(), stream_);
  }

  round_counts counts() const {
    round_counts c;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&c, counts_.data(), sizeof c, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    return c;
  }

  cuda_stream stream_;
  solver_parts parts_;
  cuda_speeds speeds_;
  device_buffer<round_counts> counts_;
  device_buffer<start_cell> starts_;
  cuda_event begin_, end_;
  cuda_fronts fronts_;
  device_buffer<float> arrival_;
  mutable device_buffer<float> sorted_;
  cuda_readings readings_{parts_, speeds_, stream_};
};

}  // namespace

std::unique_ptr<solver> make_solver_cuda(const device& d, solver_parts&& parts, std::span<const float> tensors) {
  auto made = std::make_unique<cuda_solver>(d, std::move(parts));
  if (!tensors.empty()) made->set_host_speeds(tensors);
  return made;
}

}  // namespace voxherd::connect
