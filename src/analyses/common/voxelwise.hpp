#pragma once

#include <string>
#include <utility>

#include "core/analysis.hpp"
#include "kernels/device/voxelwise.hpp"
#include "mpi/run/run.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

/// Common part of analyses with one item per voxel. `Input` is their item_input: dwi_series, perfusion_inputs.
template <class Input>
class voxelwise_base : public analysis {
 public:
  /// `input` outlives this. `more`: constants besides the input's.
  voxelwise_base(std::string name, Input& input, const device& d, std::vector<constant> more = {})
      : input_(input), device_(d), name_(std::move(name)), more_(std::move(more)) {}

  std::string name() const override { return name_; }
  const image_grid& grid() const override { return input_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return input_.item_voxels(); }
  std::vector<constant> constants() const override {
    std::vector<constant> list;
    if constexpr (requires { input_.constants(); }) list = input_.constants();
    list.insert(list.end(), more_.begin(), more_.end());
    return list;
  }
  bool may_be_empty() const override {
    if constexpr (requires { input_.may_be_empty(); }) return input_.may_be_empty();
    return false;
  }
  item_input* input() override { return &input_; }
  std::unique_ptr<item_counts> make_counts() const override { return std::make_unique<status_counts>(this->outputs()); }
  int lanes() const override { return device_.kind == backend::cuda ? 2 : 1; }

 protected:
  Input& input_;
  device device_;

 private:
  std::string name_;
  std::vector<constant> more_;
};

/// An analysis defined completely by an estimator with one voxel per lane.
template <class Input, class Estimator>
class voxelwise_analysis final : public voxelwise_base<Input> {
 public:
  voxelwise_analysis(std::string name, Input& input, const device& d, Estimator estimator,
                     std::vector<constant> more = {})
      : voxelwise_base<Input>(std::move(name), input, d, std::move(more)), estimator_(std::move(estimator)) {}

  std::vector<output_spec> outputs() const override { return output_specs<typename Estimator::outputs>(); }
  input_layout reads() const override { return preferred_layout(this->device_); }
  std::size_t device_bytes_per_item() const override { return voxelwise_device_bytes(estimator_); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<runner>(make_voxelwise_solver(this->device_, estimator_), reads());
  }

 private:
  class runner final : public batch_runner {
   public:
    runner(std::unique_ptr<voxelwise_solver<Estimator>> solver, input_layout layout)
        : solver_(std::move(solver)), layout_(layout) {}
    void run(const batch& items, std::span<const std::byte> input,
             std::span<const std::span<std::byte>> outputs) override {
      solver_->fit(items.item_count, reinterpret_cast<const float*>(input.data()), layout_,
                   arrays_in<typename Estimator::outputs>(outputs));
    }
    void release_memory() override { solver_->release_memory(); }

   private:
    std::unique_ptr<voxelwise_solver<Estimator>> solver_;
    input_layout layout_;
  };

  Estimator estimator_;
};

/// Runs such an analysis over all ranks, and logs how many voxels have each status.
template <class Input, class Estimator>
exit_status run_voxelwise(session& s, const std::string& name, Input& input, const Estimator& estimator,
                          const device& d, const run_settings& how, std::vector<constant> more = {}) {
  voxelwise_analysis<Input, Estimator> voxels(name, input, d, estimator, std::move(more));
  return run(s, voxels, how, hooks_for(d));
}

}  // namespace voxherd
