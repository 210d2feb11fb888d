#include "kernels/connect/cuda_speeds.cuh"

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "kernels/connect/block_reader.hpp"
#include "kernels/connect/reach.hpp"
#include "kernels/connect/stencil_maker.hpp"
#include "kernels/device/launch.cuh"

namespace voxherd::connect {

namespace {

template <class T>
device_buffer<T> copied(const std::vector<T>& from, cudaStream_t stream) {
  return voxherd::copied(from.data(), from.size(), stream);
}

template <class T>
T fetched(const device_buffer<T>& from, const cuda_stream& stream) {
  T value;
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&value, from.data(), sizeof value, cudaMemcpyDeviceToHost, stream));
  stream.wait();
  return value;
}

template <class T>
void clear(const device_buffer<T>& values, std::size_t count, cudaStream_t stream) {
  if (count > 0) VOXHERD_CUDA_CHECK(cudaMemsetAsync(values.data(), 0, count * sizeof(T), stream));
}

// Which cells need a net: the steps of cells_that_need_nets() as kernels.

struct wall_finder {
  lattice_view l;
  const std::uint32_t* cell_of_number;
  std::uint8_t* walled_in;
  unsigned* any;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t cell = cell_of_number[i];
    const bool closed = is_walled_in(l, cell);
    walled_in[cell] = closed ? 1 : 0;
    if (closed) *any = 1;
  }
};

struct part_seeder {
  face_parts_view parts;
  const std::uint8_t* walled_in;
  std::uint8_t *reached, *reaches;

  __device__ void operator()(std::uint32_t part) const {
    const std::uint32_t cell = chosen_cell(parts, part, walled_in);
    reached[cell] = 1;
    reaches[cell] = 1;
  }
};

/// One round over all cells, in any order: marks only ever spread.
struct reach_spreader {
  lattice_view l;
  const std::uint32_t* cell_of_number;
  std::uint8_t *reached, *reaches;
  unsigned* changed;

  __device__ void operator()(std::uint32_t i) const {
    const bool pulled = pull_reached(l, cell_of_number[i], reached),
               pushed = push_reaches(l, cell_of_number[i], reaches);
    if (pulled || pushed) *changed = 1;
  }
};

struct net_marker {
  lattice_view l;
  const std::uint32_t* cell_of_number;
  const std::uint8_t *reached, *reaches;
  std::uint8_t* needs;
  unsigned* any;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t cell = cell_of_number[i];
    if (mark_net(l, cell, reached[cell], reaches[cell], needs)) *any = 1;
  }
};

// The graph: one thread per block.

struct graph_counts {
  unsigned longest;  ///< list of blocks read
  unsigned nets;     ///< blocks with a net, also those without room
};

/// Lists of the blocks that each block reads, before their length is known. Entry n of block b is at n * blocks + b:
/// neighbouring threads read neighbouring addresses.
struct read_lists {
  std::uint32_t blocks;
  std::uint32_t* block;
  std::uint64_t* cells[2];
  std::uint32_t* count;  ///< (blocks)
};

struct net_store {
  std::uint32_t* pair;
  float* cost;
  std::uint32_t room;  ///< nets
};

/// What a block_reader finds for one block.
struct listed_reads {
  const read_lists& lists;
  const net_store& nets;
  graph_counts* counts;
  std::uint32_t reader, found = 0;
  std::int32_t net = -1;

  __device__ std::uint32_t size() const { return found; }
  __device__ std::uint32_t block(std::uint32_t n) const { return lists.block[place(n)]; }
  __device__ void add(std::uint32_t block) {
    lists.block[place(found)] = block;
    for (std::uint64_t* cells : lists.cells) cells[place(found)] = 0;
    ++found;
  }
  __device__ void mark(std::uint32_t n, int order, std::uint32_t cell) const {
    lists.cells[order][place(n)] |= std::uint64_t{1} << cell;
  }
  __device__ block_net start_net() {
    const unsigned mine = atomicAdd(&counts->nets, 1u);
    if (mine >= nets.room) return {nullptr, nullptr};
    net = static_cast<std::int32_t>(mine);
    const std::size_t first = std::size_t{3} * block_cells * mine;
    return {nets.pair + first, nets.cost + first};
  }

 private:
  __device__ std::size_t place(std::uint32_t n) const { return std::size_t{n} * lists.blocks + reader; }
};

struct read_finder {
  lattice_view l;
  const std::uint8_t* needs_net;  ///< may be null
  int pairs;
  read_lists lists;
  net_store nets;
  graph_counts* counts;
  std::uint32_t* neighbour;
  std::int32_t* net_of;

  __device__ void operator()(std::uint32_t b) const {
    listed_reads found{lists, nets, counts, b};
    block_reader(l, needs_net, b, pairs, neighbour + std::size_t{b} * static_cast<unsigned>(pairs) * block_cells, found)
        .read_along_directions();
    lists.count[b] = found.found;
    net_of[b] = found.net;
    atomicMax(&counts->longest, found.found);
  }
};

/// Copies the lists, padded with the block itself, and counts the dependents of each block. A block is not its own
/// dependent: entry 0 is not counted.
struct read_copier {
  read_lists lists;
  std::uint32_t stride;
  std::uint32_t* read_block;
  std::uint32_t* dependents_before;  ///< (blocks + 1)

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t b = i / stride, n = i % stride;
    const bool listed = n < lists.count[b];
    const std::uint32_t read = listed ? lists.block[std::size_t{n} * lists.blocks + b] : b;
    read_block[i] = read;
    if (listed && n > 0) atomicAdd(dependents_before + read + 1, 1u);
  }
};

/// Inverts "reads" to "is read by". The order of a block's dependents varies; no result depends on it.
struct dependent_lister {
  read_lists lists;
  std::uint32_t stride;
  std::uint32_t* next;  ///< (blocks): place of the block's next dependent
  dependent* dependents;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t b = i / stride, n = i % stride;
    if (n == 0 || n >= lists.count[b]) return;
    const std::size_t at = std::size_t{n} * lists.blocks + b;
    dependents[atomicAdd(next + lists.block[at], 1u)] = {{lists.cells[0][at], lists.cells[1][at]}, b, 0};
  }
};

struct trace_taker {
  lattice_view l;
  const std::uint32_t* cells;
  float* to;

  __device__ void operator()(std::uint32_t i) const { to[i] = trace_of(l, cells[i]); }
};

/// The lattice on the GPU: what follows from the mask is copied, the rest is computed.
class cuda_lattice {
 public:
  cuda_lattice(const lattice& l, const cuda_stream& stream)
      : view_(l.view()),
        cell_of_(copied(l.cell_of, stream)),
        find_voxel_(copied(l.find_voxel, stream)),
        offset_(selling_directions * l.cells()),
        tensor_(selling_directions * l.cells()),
        weight_(selling_directions * l.cells()),
        open_(l.cells()),
        cell_of_number_(copied(l.cell_of_number, stream)) {
    view_.cell_of = cell_of_.data();
    view_.find_voxel = find_voxel_.data();
    view_.offset = offset_.data();
    view_.tensor = tensor_.data();
    view_.weight = weight_.data();
    view_.open = open_.data();
  }

  void set(const float* tensors, cudaStream_t stream) const {
    each_on_gpu(stream, view_.blocks * block_cells,
                stencil_maker{view_, tensors, tensor_.data(), weight_.data(), offset_.data(), open_.data()});
  }

  const lattice_view& view() const { return view_; }
  const device_buffer<std::uint32_t>& cell_of_number() const { return cell_of_number_; }
  std::vector<float> host_tensors() const {
    std::vector<float> values(tensor_.size());
    VOXHERD_CUDA_CHECK(
        cudaMemcpy(values.data(), tensor_.data(), values.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  lattice_view view_;
  device_buffer<std::int32_t> cell_of_, find_voxel_, offset_;
  device_buffer<float> tensor_, weight_;
  device_buffer<std::uint32_t> open_, cell_of_number_;
};

/// Finds the cells that need a net.
class cuda_reach {
 public:
  cuda_reach(const lattice& l, const cuda_lattice& where, const cuda_stream& stream)
      : lattice_(l), where_(where), stream_(stream), cells_(l.cells()) {}

  /// One flag per cell, on the GPU; null if none needs one.
  const std::uint8_t* find() {
    if (walled_in_.size() == 0) walled_in_ = device_buffer<std::uint8_t>(cells_);
    clear(flag_, 1, stream_);
    each(wall_finder{where_.view(), numbers(), walled_in_.data(), flag_.data()});
    if (fetched(flag_, stream_) == 0) return nullptr;
    if (offset_.size() == 0) reserve();
    for (const auto* marks : {&reached_, &reaches_, &needs_}) clear(*marks, cells_, stream_);
    each_on_gpu(stream_, static_cast<std::uint32_t>(offset_.size() - 1),
                part_seeder{{offset_.data(), cell_.data()}, walled_in_.data(), reached_.data(), reaches_.data()});
    constexpr int rounds_between_questions = 16;
    do {
      clear(flag_, 1, stream_);
      for (int round = 0; round < rounds_between_questions; ++round)
        each(reach_spreader{where_.view(), numbers(), reached_.data(), reaches_.data(), flag_.data()});
    } while (fetched(flag_, stream_) != 0);
    clear(flag_, 1, stream_);
    each(net_marker{where_.view(), numbers(), reached_.data(), reaches_.data(), needs_.data(), flag_.data()});
    return fetched(flag_, stream_) == 0 ? nullptr : needs_.data();
  }

 private:
  const std::uint32_t* numbers() const { return where_.cell_of_number().data(); }

  template <class Callable>
  void each(const Callable& callable) const {
    each_on_gpu(stream_, static_cast<std::uint32_t>(where_.cell_of_number().size()), callable);
  }

  void reserve() {
    const face_parts parts = find_face_parts(lattice_);
    offset_ = copied(parts.offset, stream_);
    cell_ = copied(parts.cell, stream_);
    reached_ = device_buffer<std::uint8_t>(cells_);
    reaches_ = device_buffer<std::uint8_t>(cells_);
    needs_ = device_buffer<std::uint8_t>(cells_);
    stream_.wait();
  }

  const lattice& lattice_;
  const cuda_lattice& where_;
  const cuda_stream& stream_;
  std::size_t cells_;
  device_buffer<std::uint8_t> walled_in_, reached_, reaches_, needs_;
  device_buffer<std::uint64_t> offset_;
  device_buffer<std::uint32_t> cell_;
  device_buffer<unsigned> flag_{1};
};

/// The graph on the GPU.
class cuda_graph {
 public:
  /// `near`: the complete graph of a scheme on the nearest neighbours; of Selling's scheme only the number of blocks is
  /// read. Waits for the stream.
  cuda_graph(const block_graph& near, const cuda_stream& stream)
      : view_(near.view()),
        stream_(stream),
        neighbour_(copied(near.neighbour, stream)),
        read_block_(copied(near.read_block, stream)),
        first_dependent_(copied(near.first_dependent, stream)),
        near_block_(copied(near.near_block, stream)),
        near_closed_(copied(near.near_closed, stream)),
        dependents_(copied(near.dependents, stream)),
        net_of_(copied(near.net_of, stream)) {
    show();
    stream.wait();  // before `near` may be destroyed
  }

  /// The graph along Selling's directions. `needs_net`: on the GPU, or null.
  void build(const cuda_lattice& where, const std::uint8_t* needs_net, int pairs) {
    view_.pairs = pairs;
    const std::size_t blocks = view_.blocks;
    neighbour_.reserve(blocks * static_cast<unsigned>(pairs) * block_cells);
    net_of_.reserve(blocks);
    list_block_.reserve(blocks * max_read_blocks);
    for (auto& cells : list_cells_) cells.reserve(blocks * max_read_blocks);
    list_count_.reserve(blocks);
    const read_lists lists{
        view_.blocks, list_block_.data(), {list_cells_[0].data(), list_cells_[1].data()}, list_count_.data()};
    view_.read_stride = find_reads(where, needs_net, lists);
    list_dependents(lists);
    show();
  }

  /// Frees what only build() uses, about as much as lattice and graph take.
  void free_scratch() {
    for (auto* words : {&list_block_, &list_count_, &next_}) *words = {};
    for (auto& cells : list_cells_) cells = {};
    scan_ = {};
  }

  const graph_view& view() const { return view_; }

 private:
  /// Returns the length of all lists of blocks.
  std::uint32_t find_reads(const cuda_lattice& where, const std::uint8_t* needs_net, const read_lists& lists) {
    for (;;) {
      clear(counts_, 1, stream_);
      const auto room = static_cast<std::uint32_t>(net_cost_.size() / (3 * block_cells));
      each_on_gpu(stream_, view_.blocks,
                  read_finder{where.view(),
                              needs_net,
                              view_.pairs,
                              lists,
                              {net_pair_.data(), net_cost_.data(), room},
                              counts_.data(),
                              neighbour_.data(),
                              net_of_.data()});
      const graph_counts found = fetched(counts_, stream_);
      constexpr std::uint32_t step = 32;
      if (found.nets <= room) return (found.longest + step - 1) / step * step;
      const std::size_t values = std::size_t{3} * block_cells * std::min(view_.blocks, found.nets + found.nets / 4);
      net_pair_.reserve(values);
      net_cost_.reserve(values);
    }
  }

  void list_dependents(const read_lists& lists) {
    const std::uint32_t stride = view_.read_stride, entries = view_.blocks * stride;
    read_block_.reserve(entries);
    first_dependent_.reserve(view_.blocks + 1);
    next_.reserve(view_.blocks + 1);
    clear(next_, view_.blocks + 1, stream_);
    each_on_gpu(stream_, entries, read_copier{lists, stride, read_block_.data(), next_.data()});
    std::size_t bytes = 0;
    const auto count = static_cast<int>(view_.blocks + 1);
    VOXHERD_CUDA_CHECK(
        cub::DeviceScan::InclusiveSum(nullptr, bytes, next_.data(), first_dependent_.data(), count, stream_));
    scan_.reserve(bytes);
    VOXHERD_CUDA_CHECK(
        cub::DeviceScan::InclusiveSum(scan_.data(), bytes, next_.data(), first_dependent_.data(), count, stream_));
    std::uint32_t all = 0;
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(&all, first_dependent_.data() + view_.blocks, sizeof all, cudaMemcpyDeviceToHost, stream_));
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(next_.data(), first_dependent_.data(), view_.blocks * sizeof(std::uint32_t),
                                       cudaMemcpyDeviceToDevice, stream_));
    stream_.wait();
    dependents_.reserve(all);
    each_on_gpu(stream_, entries, dependent_lister{lists, stride, next_.data(), dependents_.data()});
  }

  void show() {
    view_.neighbour = neighbour_.data();
    view_.read_block = read_block_.data();
    view_.net_of = net_of_.data();
    view_.net_pair = net_pair_.data();
    view_.net_cost = net_cost_.data();
    view_.first_dependent = first_dependent_.data();
    view_.dependents = dependents_.data();
    view_.near_block = near_block_.data();
    view_.near_closed = near_closed_.data();
  }

  graph_view view_;
  const cuda_stream& stream_;
  device_buffer<std::uint32_t> neighbour_, read_block_, net_pair_, first_dependent_, near_block_, near_closed_;
  device_buffer<dependent> dependents_;
  device_buffer<std::int32_t> net_of_;
  device_buffer<float> net_cost_;
  // While it is built.
  device_buffer<std::uint32_t> list_block_, list_count_, next_;
  device_buffer<std::uint64_t> list_cells_[2];
  device_buffer<graph_counts> counts_{1};
  device_buffer<std::byte> scan_;
};

/// The parts' graph as far as it follows from the mask.
block_graph graph_of_mask(const solver_parts& parts, int threads) {
  if (parts.settings.scheme != scheme_kind::selling) return build_graph(parts.where, parts.settings, threads);
  block_graph g;
  g.blocks = parts.where.blocks;
  return g;
}

}  // namespace

class cuda_speeds::memory {
 public:
  memory(const solver_parts& parts, int threads, const cuda_stream& stream)
      : parts_(parts),
        stream_(stream),
        lattice_(parts.where, stream),
        reach_(parts.where, lattice_, stream),
        graph_(graph_of_mask(parts, threads), stream) {
    const std::vector<std::uint32_t> cells = cost_sample(parts.where);
    sample_ = copied(cells, stream);
    trace_ = device_buffer<float>(cells.size());
    host_trace_.resize(cells.size());
    stream.wait();
  }

  void set(const float* tensors) {
    typical_cost = 0;  // if this fails, solve() refuses
    lattice_.set(tensors, stream_);
    host_tensors_.clear();
    each_on_gpu(stream_, static_cast<std::uint32_t>(sample_.size()),
                trace_taker{lattice_.view(), sample_.data(), trace_.data()});
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(host_trace_.data(), trace_.data(), trace_.size() * sizeof(float),
                                       cudaMemcpyDeviceToHost, stream_));
    if (parts_.settings.scheme == scheme_kind::selling)
      graph_.build(lattice_, reach_.find(), parts_.settings.order == 2 ? second_pairs : first_pairs);
    stream_.wait();
    typical_cost = connect::typical_cost(host_trace_);
  }

  lattice_view on_host() {
    if (host_tensors_.empty()) host_tensors_ = lattice_.host_tensors();
    lattice_view view = parts_.where.view();
    view.tensor = host_tensors_.data();
    return view;
  }

  void free_scratch() { graph_.free_scratch(); }

  const cuda_lattice& where() const { return lattice_; }
  const cuda_graph& graph() const { return graph_; }

  float typical_cost = 0;

 private:
  const solver_parts& parts_;
  const cuda_stream& stream_;
  cuda_lattice lattice_;
  cuda_reach reach_;
  cuda_graph graph_;
  device_buffer<std::uint32_t> sample_;
  device_buffer<float> trace_;
  std::vector<float> host_trace_, host_tensors_;
};

cuda_speeds::cuda_speeds(const solver_parts& parts, int threads, const cuda_stream& stream)
    : memory_(std::make_unique<memory>(parts, threads, stream)) {}
cuda_speeds::~cuda_speeds() = default;

void cuda_speeds::set(const float* tensors) { memory_->set(tensors); }
void cuda_speeds::free_scratch() { memory_->free_scratch(); }
const lattice_view& cuda_speeds::where() const { return memory_->where().view(); }
const graph_view& cuda_speeds::graph() const { return memory_->graph().view(); }
const std::uint32_t* cuda_speeds::cell_of_number() const { return memory_->where().cell_of_number().data(); }
float cuda_speeds::typical_cost() const { return memory_->typical_cost; }
lattice_view cuda_speeds::on_host() const { return memory_->on_host(); }

}  // namespace voxherd::connect
