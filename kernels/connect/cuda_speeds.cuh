#pragma once

#include <memory>
#include <vector>

#include "kernels/connect/block_graph.hpp"
#include "kernels/device/cuda_check.cuh"

namespace voxherd::connect {

/// What a solver on a GPU reads: the lattice of a mask, and all that follows from the tensors, which is computed on the
/// GPU. The memory is kept from one set of tensors to the next.
class cuda_speeds {
 public:
  /// `parts`: numbered; must exist as long as this.
  cuda_speeds(const solver_parts& parts, int threads, const cuda_stream& stream);
  ~cuda_speeds();

  /// `tensors`: as speed_field::tensors, on the GPU. Waits for the stream.
  void set(const float* tensors);
  /// Frees the memory that only set() uses, if there will be no other tensors.
  void free_scratch();

  const lattice_view& where() const;
  const graph_view& graph() const;
  const std::uint32_t* cell_of_number() const;  ///< on the GPU
  float typical_cost() const;                   ///< 0 before set()
  /// The lattice with its tensors in host memory; its other arrays are those of the parts, or null.
  lattice_view on_host() const;

 private:
  class memory;
  std::unique_ptr<memory> memory_;
};

}  // namespace voxherd::connect
