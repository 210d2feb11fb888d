#pragma once

#include <vector>

#include "bench/program.hpp"
#include "kernels/noddi/models.hpp"
#include "kernels/noddi/protocol.hpp"
#include "kernels/voxel_model/model_estimator.hpp"

namespace voxherd::bench {

struct noddi_case {
  int directions = 30;  ///< of each shell, b = 1000, 2000 and 3000 s/mm2
  bool gradient_deviation = false;
  noddi::settings settings;
  std::size_t voxels = 192;
};

/// NODDI with a Watson distribution as in the program, from signals in host memory to results in host memory (for a
/// GPU: page-locked, copies included). Voxels of white and grey matter; the signal-to-noise ratio is 30.
template <class Model>
class noddi_problem final : public problem {
 public:
  using outputs = voxel_model::outputs_of<Model>;

  noddi_problem(const device& d, const noddi_case& c);

  void run() override;

  /// Every voxel is fitted; median errors of NDI, ODI and FWF below 0.05.
  std::string find_error() const override;

  std::size_t voxels() const override { return case_.voxels; }

 private:
  void write_signals(const gradient_table& gradients);
  void allocate_results();

  device device_;
  noddi_case case_;
  std::vector<noddi::signal_parameters> truth_;
  std::vector<std::uint64_t> voxel_numbers_;
  host_buffer rows_;
  std::vector<host_buffer> memory_;
  output_arrays<outputs> results_;
  voxel_model::estimator_of<Model> estimator_;
};

std::unique_ptr<problem> make_noddi_problem(const device& d, const noddi_case& c);

}  // namespace voxherd::bench
