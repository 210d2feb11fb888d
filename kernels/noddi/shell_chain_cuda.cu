#include "kernels/noddi/shell_chain_cuda.cuh"

#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/portable/cuda_team.cuh"

namespace voxherd::noddi {

namespace {

/// One voxel's data for a cuda_team: signals in global memory, the rest in shared memory. `Slots` measurements per
/// lane; 0: known only at run time.
template <int Width, int Slots>
struct cuda_measurements {
  int slot_count;
  const float* signals;        ///< this lane's first
  unsigned direction_address;  ///< this lane's first, in shared memory
  const float2* weightings;    ///< this lane's first

  __device__ constexpr int slots() const {
    if constexpr (Slots > 0) return Slots;
    return slot_count;
  }
  __device__ float signal(int s) const { return __ldg(signals + s * Width); }
  __device__ float is_measured(int s) const { return weightings[s * Width].x < 0.5f * padding_weighting ? 1.0f : 0.0f; }
  /// Loaded each time: if the compiler could combine the loads, it would keep the directions of all slots in registers
  /// and spill others.
  __device__ float4 direction(int s) const {
    float4 d;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
                 : "r"(direction_address + s * Width * 16));
    return d;
  }
  __device__ chain_measurement<float> load(int s) const {
    const float4 d = direction(s);
    const float2 w = weightings[s * Width];
    return {d.x, d.y, d.z, w.x, w.y};
  }

  struct coefficient_reader {
    int first;
    __device__ float operator()(const float* row, int power) const { return row[first + power]; }
  };
  __device__ coefficient_reader coefficient(int s) const { return {__float_as_int(direction(s).w)}; }
};

using scratch_type = voxel_model::chain_scratch<max_parameters>;

/// Shared memory of a block: the measurements, then each team's scratch, its two rows of the table, and its arrays that
/// are not in registers.
struct chain_memory {
  int teams, padded, row_numbers;
  int array_floats;  ///< of a team

  __host__ __device__ int row_floats() const { return (2 * row_numbers + 3) / 4 * 4; }
  __host__ __device__ std::size_t weightings() const { return sizeof(chain_direction) * padded; }
  __host__ __device__ std::size_t scratch() const { return weightings() + sizeof(float2) * padded; }
  __host__ __device__ std::size_t rows() const { return (scratch() + sizeof(scratch_type) * teams + 15) / 16 * 16; }
  __host__ __device__ std::size_t arrays() const { return rows() + sizeof(float) * row_floats() * teams; }
  __host__ __device__ std::size_t bytes() const { return arrays() + sizeof(float) * array_floats * teams; }
};

template <class Shape>
__host__ __device__ chain_memory memory_of(const chain_job& job) {
  const int padded = Shape::width * job.slots;
  return {chain_block_threads / Shape::width, padded, job.settings.row_numbers, Shape::slots > 0 ? 0 : 4 * padded};
}

template <class Noise, int Terms, class Shape>
__global__ void __launch_bounds__(chain_block_threads, Shape::slots > 0 ? chain_blocks_per_sm : 2)
    chain_kernel(const chain_job job) {
  using team_type = cuda_team<float, Shape::width>;
  using array =
      std::conditional_t<(Shape::slots > 0), register_array<float, Shape::slots>, shared_array<float, Shape::width>>;
  using measurements = cuda_measurements<Shape::width, Shape::slots>;
  using steps = sampler<team_type, measurements, array, Noise, Terms>;

  extern __shared__ __align__(16) unsigned char shared[];
  const team_type team;
  const chain_memory memory = memory_of<Shape>(job);
  auto* const directions = reinterpret_cast<chain_direction*>(shared);
  auto* const weightings = reinterpret_cast<float2*>(shared + memory.weightings());
  for (int i = static_cast<int>(threadIdx.x); i < memory.padded; i += chain_block_threads) {
    directions[i] = job.directions[i];
    weightings[i] = job.weightings[i];
  }
  __syncthreads();

  const int own = static_cast<int>(threadIdx.x) / Shape::width;
  const int wanted = static_cast<int>(blockIdx.x) * memory.teams + own;
  const int item = wanted < job.count ? wanted : job.count - 1;
  const bool store = wanted < job.count && job.status[item] == 0;
  if (!__any_sync(0xffffffffu, store)) return;
  const measurements m{job.slots, job.signals + static_cast<std::size_t>(item) * memory.padded + team.lane,
                       static_cast<unsigned>(__cvta_generic_to_shared(directions + team.lane)), weightings + team.lane};
  auto& scratch = reinterpret_cast<scratch_type*>(shared + memory.scratch())[own];
  float* const rows = reinterpret_cast<float*>(shared + memory.rows()) + own * memory.row_floats();
  signal_arrays<array> a;
  if constexpr (Shape::slots == 0) {
    float* const first = reinterpret_cast<float*>(shared + memory.arrays()) + own * memory.array_floats + team.lane;
    a = {{first}, {first + memory.padded}, {first + 2 * memory.padded}, {first + 3 * memory.padded}};
  }
  const std::size_t i = item, parameters = job.parameters;
  steps one(team, m, job.settings, a, rows, scratch, job.starts + i * parameters);
  voxel_model::chain<team_type, steps, scratch_type>(team, job.settings.lengths, scratch, one)
      .run(job.voxels[i], job.samples + i * job.sample_floats, job.acceptance + i * parameters, store);
}

template <class Noise, int Terms, class Shape>
void launch_shape(const chain_job& job, cudaStream_t stream) {
  const chain_memory memory = memory_of<Shape>(job);
  launch_items(chain_kernel<Noise, Terms, Shape>, static_cast<std::size_t>(job.count),
               static_cast<std::size_t>(memory.teams), {chain_block_threads, memory.bytes()}, stream, job);
}

template <class Noise, int Terms>
void launch_terms(const chain_job& job, const chain_shape& shape, cudaStream_t stream) {
  if (!shape.in_registers) return launch_shape<Noise, Terms, kernel_shape<32, 0>>(job, stream);
  if (shape.width == 8) return launch_shape<Noise, Terms, kernel_shape<8, register_slots>>(job, stream);
  if (shape.width == 16) return launch_shape<Noise, Terms, kernel_shape<16, register_slots>>(job, stream);
  launch_shape<Noise, Terms, kernel_shape<32, register_slots>>(job, stream);
}

template <class Noise>
void launch_noise(const chain_job& job, const chain_shape& shape, cudaStream_t stream) {
  if (job.terms == few_terms) return launch_terms<Noise, few_terms>(job, shape, stream);
  launch_terms<Noise, many_terms>(job, shape, stream);
}

}  // namespace

void launch_chains(const chain_job& job, const chain_shape& shape, cudaStream_t stream) {
  if (job.rician) return launch_noise<voxel_model::rician_noise>(job, shape, stream);
  launch_noise<voxel_model::gaussian_noise>(job, shape, stream);
}

}  // namespace voxherd::noddi
