#pragma once

#include <algorithm>

#include "kernels/device/each_cpu.hpp"
#include "kernels/device/voxelwise_cpu.hpp"
#include "kernels/portable/cpu_team.hpp"
#include "kernels/voxel_model/model_estimator.hpp"
#include "kernels/voxel_model/model_voxel.hpp"
#include "kernels/voxel_model/normal_equations_cpu.hpp"

namespace voxherd::voxel_model {

struct cpu_teams {
  using fit = cpu_team<double>;
  using chain = cpu_team<float>;
};

template <class Model>
class cpu_model_estimator final : public estimator<model_outputs<Model>> {
 public:
  cpu_model_estimator(const device& d, const Model& model, const gradient_table& gradients, bool deviates,
                      const settings& s)
      : threads_(std::max(d.threads, 1)),
        run_(make_model_run(model, gradients, deviates, s, cpu_teams::chain::lanes, kept_)) {}

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows,
           const output_arrays<model_outputs<Model>>& out) override {
    const auto row_floats = static_cast<std::size_t>(run_.row_floats());
    each_team_on_cpu(threads_, count, 4, [&] {
      const auto own = std::make_shared<thread_memory>(run_);
      return [=, this](std::size_t i) {
        estimate_voxel<cpu_teams, Model>(run_, voxels[i], rows + i * row_floats,
                                         {own->precise.data(), own->rounded.data(), own->samples.data()}, own->scratch,
                                         i, out);
      };
    });
  }

 private:
  struct thread_memory {
    explicit thread_memory(const model_run<Model>& run)
        : precise(static_cast<std::size_t>(run.padded)),
          rounded(precise.size()),
          samples(static_cast<std::size_t>(run.sample_floats())) {}
    std::vector<double> precise;
    std::vector<float> rounded, samples;
    voxel_scratch<cpu_teams, Model> scratch;
  };

  kept_numbers kept_;
  int threads_;
  model_run<Model> run_;
};

}  // namespace voxherd::voxel_model
