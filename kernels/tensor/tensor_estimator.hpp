#pragma once

#include "kernels/device/voxelwise.hpp"
#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

/// Fits diffusion tensors, one voxel per lane.
class tensor_estimator {
 public:
  using outputs = tensor_outputs;

  tensor_estimator(const gradient_table& gradients, const tensor_settings& settings)
      : table_(gradients), settings_(settings) {}

  /// Signals, then 9 numbers of the gradient deviation if there is one (column by column).
  std::size_t row_floats() const { return table_.q.size() / 3 + (settings_.gradient_deviation ? 9 : 0); }

  struct one_voxel {
    tensor_fitter fit;
    VOXHERD_FUNCTION void operator()(signal_row row, std::size_t item, const output_arrays<outputs>& out) const {
      store(fit(row), item, out);
    }
  };

  template <class Send>
  auto callable(Send& send) const {
    return one_voxel{{{send(table_.q), table_.q.size() / 3, table_.largest_b_s_per_mm2}, settings_}};
  }

 private:
  tensor_design_table table_;
  tensor_settings settings_;
};

using tensor_solver = voxelwise_solver<tensor_estimator>;

}  // namespace voxherd
