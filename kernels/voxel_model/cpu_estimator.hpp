#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/device/each_cpu.hpp"
#include "kernels/portable/cpu_team.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/voxel_model/estimator.hpp"
#include "kernels/voxel_model/voxel_preparer.hpp"
#include "kernels/voxel_model/voxel_sizes.hpp"

namespace voxherd::voxel_model {

/// The estimator of all models on the CPU: one voxel per thread. What models differ in are their `Stages`:
///   outputs, sizes(), bytes()    output table, voxel_sizes, bytes per voxel of each output
///   worker                       one thread's memory, constructed from the stages, with
///     fit(signals, deviation, start, item, out)   the best fit; stores a chain's start
///     sample(voxel, samples, acceptance)          the chain of the voxel that was fitted last
///   summarise(samples, acceptance, item, out)     outputs of a chain
template <class Stages>
class cpu_estimator final : public estimator<typename Stages::outputs> {
  using outputs = output_arrays<typename Stages::outputs>;
  using real = cpu_team<float>::real;
  static_assert(outputs::template place<"status">() == outputs::count - 1);

 public:
  template <class... Arguments>
  explicit cpu_estimator(const device& d, const Arguments&... arguments)
      : threads_(std::max(d.threads, 1)), stages_(arguments...) {}

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const outputs& out) override {
    const auto row_floats = static_cast<std::size_t>(stages_.sizes().row_floats());
    each_team_on_cpu(threads_, count, 4, [&] {
      const auto own = std::make_shared<thread_memory>(stages_);
      return [=, this](std::size_t i) { estimate(i, voxels[i], rows + i * row_floats, *own, out); };
    });
  }

 private:
  struct thread_memory {
    explicit thread_memory(const Stages& stages)
        : worker(stages),
          signals(static_cast<std::size_t>(stages.sizes().padded) / real::size()),
          start(static_cast<std::size_t>(stages.sizes().parameters)),
          acceptance(start.size()),
          samples(static_cast<std::size_t>(stages.sizes().sample_floats)) {}
    typename Stages::worker worker;
    std::vector<real> signals;
    std::vector<float> start, acceptance, samples;
  };

  void estimate(std::size_t item, std::uint64_t voxel, const float* row, thread_memory& own, const outputs& out) const {
    const voxel_sizes& sizes = stages_.sizes();
    auto* const signals = reinterpret_cast<float*>(own.signals.data());
    const voxel_preparer prepare{sizes.measurements, sizes.padded, sizes.noise};
    const voxel_status status = prepare(row, signals, sizes.order);
    put_status(static_cast<std::uint8_t>(status), item, out);
    if (status != voxel_status::fitted) return clear<typename Stages::outputs>(stages_.bytes(), item, out);
    own.worker.fit(signals, sizes.deviates ? row + sizes.measurements : nullptr, own.start.data(), item, out);
    if (sizes.sample_floats == 0) return;
    own.worker.sample(voxel, own.start.data(), own.samples.data(), own.acceptance.data());
    stages_.summarise(own.samples.data(), own.acceptance.data(), item, out);
  }

  int threads_;
  Stages stages_;
};

}  // namespace voxherd::voxel_model
