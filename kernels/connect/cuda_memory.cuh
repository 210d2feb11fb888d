#pragma once

#include <algorithm>
#include <vector>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/fronts.hpp"
#include "kernels/connect/round_kernel.cuh"
#include "kernels/device/launch.cuh"

/// Lattice, graph and fronts in GPU memory.
namespace voxherd::connect {

template <class T>
device_buffer<T> copied(const std::vector<T>& from, cudaStream_t stream) {
  return voxherd::copied(from.data(), from.size(), stream);
}

class cuda_lattice {
 public:
  cuda_lattice(const lattice& l, cudaStream_t s)
      : view_(l.view()),
        cell_of_(copied(l.cell_of, s)),
        voxel_of_(copied(l.find_voxel, s)),
        offset_(copied(l.offset, s)),
        tensor_(copied(l.tensor, s)),
        weight_(copied(l.weight, s)),
        open_(copied(l.open, s)),
        cell_of_number_(copied(l.cell_of_number, s)) {
    view_.cell_of = cell_of_.data();
    view_.find_voxel = voxel_of_.data();
    view_.offset = offset_.data();
    view_.tensor = tensor_.data();
    view_.weight = weight_.data();
    view_.open = open_.data();
  }
  const lattice_view& view() const { return view_; }
  const std::uint32_t* cell_of_number() const { return cell_of_number_.data(); }

 private:
  lattice_view view_;
  device_buffer<std::int32_t> cell_of_, voxel_of_, offset_;
  device_buffer<float> tensor_, weight_;
  device_buffer<std::uint32_t> open_, cell_of_number_;
};

class cuda_graph {
 public:
  cuda_graph(const block_graph& g, cudaStream_t s)
      : view_(g.view()),
        neighbour_(copied(g.neighbour, s)),
        read_block_(copied(g.read_block, s)),
        net_pair_(copied(g.net_pair, s)),
        first_dependent_(copied(g.first_dependent, s)),
        near_block_(copied(g.near_block, s)),
        near_closed_(copied(g.near_closed, s)),
        dependents_(copied(g.dependents, s)),
        net_of_(copied(g.net_of, s)),
        net_cost_(copied(g.net_cost, s)) {
    view_.neighbour = neighbour_.data();
    view_.read_block = read_block_.data();
    view_.first_dependent = first_dependent_.data();
    view_.near_block = near_block_.data();
    view_.near_closed = near_closed_.data();
    view_.dependents = dependents_.data();
    view_.net_of = net_of_.data();
    view_.net_pair = net_pair_.data();
    view_.net_cost = net_cost_.data();
  }
  const graph_view& view() const { return view_; }

 private:
  graph_view view_;
  device_buffer<std::uint32_t> neighbour_, read_block_, net_pair_, first_dependent_, near_block_, near_closed_;
  device_buffer<dependent> dependents_;
  device_buffer<std::int32_t> net_of_;
  device_buffer<float> net_cost_;
};

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
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(count_.data(), 0, 3 * sizeof(std::uint32_t), stream));
    limit_.reserve(std::size_t{2} * fronts);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(limit_.data(), 0, std::size_t{2} * fronts * sizeof(float), stream));
    return {{entry_[0].data(), entry_[1].data()},
            {count_.data(), count_.data() + 1, count_.data() + 2},
            {limit_.data(), limit_.data() + fronts}};
  }

 private:
  device_buffer<float> value_, trigger_[2], min_[3], limit_;
  device_buffer<std::uint32_t> state_, choice_, entry_[2], count_{3};
};

}  // namespace voxherd::connect
