#pragma once

#include <omp.h>

#include <vector>

#include "kernels/device/voxelwise.hpp"

namespace voxherd {

/// Copies of the numbers that a callable points to.
class kept_numbers {
 public:
  template <class T>
  const T* operator()(const std::vector<T>& numbers) {
    const auto copy = std::make_shared<const std::vector<T>>(numbers);
    kept_.push_back(copy);
    return copy->data();
  }

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

template <class Estimator>
class voxelwise_cpu_solver final : public voxelwise_solver<Estimator> {
 public:
  voxelwise_cpu_solver(const device& d, const Estimator& e)
      : callable_(e.callable(kept_)), threads_(d.threads), row_floats_(e.row_floats()) {}

  void fit(std::size_t count, const float* values, input_layout layout,
           const typename voxelwise_solver<Estimator>::outputs& out) override {
    const auto n = static_cast<std::ptrdiff_t>(count);
    const bool in_rows = layout == input_layout::rows;
    const std::size_t item_stride = in_rows ? row_floats_ : 1, value_stride = in_rows ? 1 : count;
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 64)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const auto item = static_cast<std::size_t>(i);
      callable_(signal_row{values + item * item_stride, value_stride}.limited_to(row_floats_), item, out);
    }
  }

 private:
  kept_numbers kept_;
  decltype(std::declval<const Estimator&>().callable(std::declval<kept_numbers&>())) callable_;
  int threads_;
  std::size_t row_floats_;
};

}  // namespace voxherd
