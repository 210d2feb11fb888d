#pragma once

#include "kernels/device/voxelwise.hpp"
#include "kernels/geodesic/finsler_design.hpp"

namespace voxherd::geodesic {

/// Fits fourth-order norms, one voxel per lane. Its settings' gradient_deviation must be false.
class quartic_estimator {
 public:
  using outputs = quartic_outputs;

  /// Throws std::invalid_argument where the gradient table does not determine a norm or a setting is out of its range.
  quartic_estimator(const gradient_table& gradients, const quartic_settings& settings)
      : table_(gradients, settings), settings_(settings) {}

  std::size_t row_floats() const { return table_.tensor.q.size() / 3; }

  struct one_voxel {
    const quartic_fitter* fit;  ///< too large for a kernel's arguments
    VOXHERD_FUNCTION void operator()(signal_row row, std::size_t item, const output_arrays<outputs>& out) const {
      store((*fit)(row), item, out);
    }
  };

  template <class Send>
  auto callable(Send& send) const {
    quartic_design design = table_.view();
    design.tensor.q = send(table_.tensor.q);
    design.to_odf = send(table_.to_odf);
    return one_voxel{send(std::vector{quartic_fitter(design, table_.projector, settings_)})};
  }

 private:
  quartic_design_table table_;
  quartic_settings settings_;
};

using quartic_solver = voxelwise_solver<quartic_estimator>;

}  // namespace voxherd::geodesic
