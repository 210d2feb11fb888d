#pragma once

#include <memory>

#include "kernels/noddi/chain_model.hpp"
#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/protocol.hpp"

namespace voxherd::noddi {

/// Best fits on the CPU. One object per thread, because it owns scratch memory.
class cpu_fitter {
 public:
  virtual ~cpu_fitter() = default;
  /// `signals`: in the protocol's order.
  virtual fit_result fit(const float* signals) = 0;
};

/// `p` outlives the fitter.
std::unique_ptr<cpu_fitter> make_cpu_fitter(const protocol& p, const settings& s);

/// A chain's results: (parameter, sample), and each parameter's share of accepted jumps.
struct chain_record {
  std::vector<float> samples;
  float acceptance[max_parameters];
};

/// Chains on the CPU. One object per thread, because it owns scratch memory.
class cpu_chain {
 public:
  virtual ~cpu_chain() = default;
  /// `signals`: in the protocol's order. `start`: of store_start(). `voxel`: keys the random numbers.
  virtual void run(const float* signals, const float* start, std::uint64_t voxel, chain_record& record) = 0;
};

/// `p` and `table`, of protocol::chain_table(), outlive the chain.
std::unique_ptr<cpu_chain> make_cpu_chain(const protocol& p, const std::vector<float>& table, const settings& s);

}  // namespace voxherd::noddi
