#pragma once

#include "kernels/ballstick/cuda_jobs.cuh"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/portable/cuda_team.cuh"

namespace voxherd::ballstick {

/// One voxel's data for a cuda_team: signals in global memory, (x, y, z, offset) and weightings in shared memory.
/// `Slots` measurements per lane; 0: known only at run time.
template <int Width, int Slots>
struct cuda_measurements {
  int slot_count;
  const float* signals;        ///< this lane's first
  unsigned direction_address;  ///< this lane's first, in shared memory
  const float* weightings;     ///< this lane's first

  __device__ constexpr int slots() const {
    if constexpr (Slots > 0) return Slots;
    return slot_count;
  }
  __device__ float signal(int s) const { return __ldg(signals + s * Width); }
  /// Loaded each time: if the compiler could combine the loads, it would keep the directions of all slots in registers
  /// and spill others.
  __device__ weighted_direction<float> direction(int s) const {
    float4 d;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
                 : "r"(direction_address + s * Width * 16));
    return {d.x, d.y, d.z, d.w};
  }
  __device__ float weighting(int s) const { return weightings[s * Width]; }
};

/// Shared memory of a block: one weighting table, or one per team if gradients deviate; then each team's scratch and
/// its arrays that are not in registers.
struct chain_memory {
  int teams, padded, tables;
  std::size_t arrays_per_team;  ///< floats

  __host__ __device__ std::size_t directions() const { return 0; }
  __host__ __device__ std::size_t weightings() const { return directions() + sizeof(float4) * padded * tables; }
  __host__ __device__ std::size_t scratch() const { return weightings() + sizeof(float) * padded * tables; }
  __host__ __device__ std::size_t arrays() const { return scratch() + sizeof(chain_scratch) * teams; }
  __host__ __device__ std::size_t bytes() const { return arrays() + sizeof(float) * arrays_per_team * teams; }
};

template <class Shape, int Fibres>
__host__ __device__ chain_memory memory_of(int slots, bool deviates) {
  constexpr bool in_registers = Shape::slots > 0;
  const int teams = chain_block_threads / Shape::width;
  const int padded = Shape::width * slots;
  return {teams, padded, deviates ? teams : 1,
          static_cast<std::size_t>(in_registers ? 1 + Fibres : 4 + 2 * Fibres) * static_cast<std::size_t>(padded)};
}

/// Fills the block's table; if gradients deviate, each team fills that of its voxel.
__device__ inline void fill_tables(const chain_job& job, int item, int team, int lane, float4* directions,
                                   float* weightings) {
  const int padded = job.width * job.slots;
  if (job.deviations == nullptr) {
    for (int i = static_cast<int>(threadIdx.x); i < padded; i += chain_block_threads) {
      directions[i] = job.directions[i];
      weightings[i] = job.weightings[i];
    }
  } else {
    const float* const deviation = job.deviations + static_cast<std::size_t>(item) * job.deviation_stride;
    for (int i = lane; i < padded; i += job.width) {
      const float4 d = job.directions[i];
      weighted_direction<float> g{d.x, d.y, d.z, d.w};
      float weighting = 0;
      deviate(g, weighting, deviation);
      directions[team * padded + i] = {g.x, g.y, g.z, g.offset};
      weightings[team * padded + i] = weighting;
    }
  }
  __syncthreads();
}

/// Shared memory for the arrays of one team that are not in registers.
template <class Shape, int Fibres, class Arrays>
__device__ void place_arrays(Arrays& a, float* memory, int padded) {
  const auto take = [&] {
    float* const place = memory;
    memory += padded;
    return shared_array<float, Shape::width>{place};
  };
  a.trial_ball = take();
  for (int k = 0; k < Fibres; ++k) a.trial_stick[k] = take();
  if constexpr (Shape::slots == 0) {
    a.residual = take(), a.ball = take(), a.trial_direction = take();
    for (int k = 0; k < Fibres; ++k) a.stick[k] = take();
  }
}

template <class Attenuation, class Noise, int Fibres, class Shape>
__global__ void __launch_bounds__(chain_block_threads, Shape::slots > 0 ? chain_blocks_per_sm : 2)
    chain_kernel(const chain_job job) {
  using team_type = cuda_team<float, Shape::width>;
  using shared_type = shared_array<float, Shape::width>;
  using array = std::conditional_t<(Shape::slots > 0), register_array<float, Shape::slots>, shared_type>;
  using arrays = signal_arrays<array, shared_type, Fibres>;
  using measurements = cuda_measurements<Shape::width, Shape::slots>;
  using chain = sampler<team_type, measurements, arrays, Attenuation, Noise, Fibres>;

  extern __shared__ __align__(16) unsigned char shared[];
  const team_type team;
  const chain_memory memory = memory_of<Shape, Fibres>(job.slots, job.deviations != nullptr);
  const int own = static_cast<int>(threadIdx.x) / Shape::width;
  const int wanted = static_cast<int>(blockIdx.x) * memory.teams + own;
  const int item = wanted < job.count ? wanted : job.count - 1;
  auto* const directions = reinterpret_cast<float4*>(shared + memory.directions());
  auto* const weightings = reinterpret_cast<float*>(shared + memory.weightings());
  fill_tables(job, item, own, team.lane, directions, weightings);

  const bool store = wanted < job.count && job.status[item] == 0;
  if (!__any_sync(0xffffffffu, store)) return;
  const int table = (memory.tables == 1 ? 0 : own * memory.padded) + team.lane;
  const measurements m{job.slots, job.signals + static_cast<std::size_t>(item) * memory.padded + team.lane,
                       static_cast<unsigned>(__cvta_generic_to_shared(directions + table)), weightings + table};
  auto& scratch = reinterpret_cast<chain_scratch*>(shared + memory.scratch())[own];
  arrays a;
  place_arrays<Shape, Fibres>(
      a, reinterpret_cast<float*>(shared + memory.arrays()) + own * memory.arrays_per_team + team.lane, memory.padded);
  const parameter_layout layout =
      make_parameter_layout(Attenuation::model, Fibres, job.settings.unattenuated, Noise::model);
  const std::size_t sample_floats = static_cast<std::size_t>(layout.rows()) *
                                    (job.settings.lengths.sampled_jumps / job.settings.lengths.sample_every);
  chain(team, m, job.settings, a, scratch, job.starts + static_cast<std::size_t>(item) * max_parameters)
      .run(job.voxels[item], job.samples + item * sample_floats,
           job.acceptance + static_cast<std::size_t>(item) * max_parameters, store);
}

template <class Attenuation, class Noise, int Fibres, class Shape>
void launch_chain_kernel(const chain_job& job, cudaStream_t stream) {
  const chain_memory memory = memory_of<Shape, Fibres>(job.slots, job.deviations != nullptr);
  launch_items(chain_kernel<Attenuation, Noise, Fibres, Shape>, static_cast<std::size_t>(job.count),
               static_cast<std::size_t>(memory.teams), {chain_block_threads, memory.bytes()}, stream, job);
}

template <int Fibres>
void launch_chains(const settings& s, const chain_job& job, const chain_shape& shape, cudaStream_t stream) {
  with_types_of_fibres<Fibres>(s, [&]<class Attenuation, class Noise, int N>() {
    if (!shape.in_registers) return launch_chain_kernel<Attenuation, Noise, N, kernel_shape<32, 0>>(job, stream);
    if (shape.width == 8)
      return launch_chain_kernel<Attenuation, Noise, N, kernel_shape<8, register_slots>>(job, stream);
    if (shape.width == 16)
      return launch_chain_kernel<Attenuation, Noise, N, kernel_shape<16, register_slots>>(job, stream);
    launch_chain_kernel<Attenuation, Noise, N, kernel_shape<32, register_slots>>(job, stream);
  });
}

}  // namespace voxherd::ballstick
