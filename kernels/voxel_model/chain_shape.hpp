#pragma once

namespace voxherd::voxel_model {

/// Measurements per lane if a voxel's state is in registers: 8, 16 or 32 lanes per voxel cover up to 72, 144 and 288.
constexpr int register_slots = 9;
constexpr int chain_block_threads = 128;
constexpr int chain_blocks_per_sm = 4;  ///< limits registers to 128 per thread: more spill, fewer leave warps idle

/// How a voxel's K measurements are divided among lanes.
struct chain_shape {
  int width;          ///< lanes per voxel
  int slots;          ///< measurements per lane
  bool in_registers;  ///< else in shared memory
  int padded() const { return width * slots; }
};

inline chain_shape shape_for(int measurements) {
  for (const int width : {8, 16, 32}) {
    if (measurements <= width * register_slots) return {width, register_slots, true};
  }
  return {32, (measurements + 31) / 32, false};
}

/// Lanes per voxel and measurements per lane, compile-time parameters of a kernel; 0 slots: any number, in shared
/// memory.
template <int Width, int Slots>
struct kernel_shape {
  static constexpr int width = Width;
  static constexpr int slots = Slots;
};

}  // namespace voxherd::voxel_model
