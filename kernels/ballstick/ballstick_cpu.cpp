#include <algorithm>

#include "kernels/ballstick/ballstick.hpp"
#include "kernels/ballstick/ballstick_cpu.hpp"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/summary.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::ballstick {

namespace {

using real = cpu_scratch::real;

class cpu_estimator final : public estimator {
 public:
  cpu_estimator(const device& d, const gradient_table& gradients, const settings& s, bool gradient_deviation)
      : threads_(std::max(d.threads, 1)),
        settings_(s),
        gradients_(gradients),
        deviates_(gradient_deviation),
        table_(make_weighting_table(gradients, padded(gradients.size()))),
        chain_(chain_settings_of(s, gradients.size(), table_.max_weighting)),
        summarise_(s, gradients.size()) {
    for (const auto* column : {&table_.x, &table_.y, &table_.z, &table_.offset, &table_.weighting}) {
      for (std::size_t i = 0; i < column->size(); i += real::size())
        columns_.emplace_back(column->data() + i, lane::stdx::element_aligned);
    }
  }

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) override {
    const std::size_t row_floats = gradients_.size() + (deviates_ ? 9 : 0);
    each_team_on_cpu(threads_, count, 4, [&] {
      const auto scratch = std::make_shared<cpu_scratch>(gradients_.size(), settings_.fibres,
                                                         make_parameter_layout(settings_).rows(), settings_.samples());
      const auto fitter = std::shared_ptr(make_cpu_start_fitter(settings_, gradients_));
      return [=, this](std::size_t i) { estimate(i, voxels[i], rows + i * row_floats, *fitter, *scratch, out); };
    });
  }

 private:
  static std::size_t padded(std::size_t n) { return (n + real::size() - 1) / real::size() * real::size(); }

  void estimate(std::size_t item, std::uint64_t voxel, const float* row, cpu_start_fitter& fitter, cpu_scratch& scratch,
                const result_arrays& out) const {
    const int k = static_cast<int>(gradients_.size());
    auto* const signals = reinterpret_cast<float*>(scratch.signals.data());
    const voxel_preparer prepare{k, scratch.slots * static_cast<int>(real::size()), settings_.noise};
    const voxel_status status = prepare(row, signals);
    out.put<"status">(item, status);
    if (status != voxel_status::fitted) return summarise_.clear(item, out);

    const cpu_measurements m = measurements_of(scratch, row + k);
    float start[max_parameters];
    fitter.fit(signals, deviates_ ? row + k : nullptr, start);
    run_chain(m, start, voxel, scratch);
    summarise_(scratch.chain_samples.data(), scratch.acceptance, item, out);
  }

  cpu_measurements measurements_of(cpu_scratch& scratch, const float* deviation) const {
    const auto slots = static_cast<std::size_t>(scratch.slots);
    const real* columns = columns_.data();
    if (deviates_) {
      scratch.own_table = columns_;
      real* own = scratch.own_table.data();
      for (std::size_t s = 0; s < slots; ++s) {
        weighted_direction<real> g{own[s], own[s + slots], own[s + 2 * slots], own[s + 3 * slots]};
        deviate(g, own[s + 4 * slots], deviation);
        own[s] = g.x, own[s + slots] = g.y, own[s + 2 * slots] = g.z;
      }
      columns = own;
    }
    return {scratch.slots,       scratch.signals.data(), columns, columns + slots, columns + 2 * slots,
            columns + 3 * slots, columns + 4 * slots};
  }

  void run_chain(const cpu_measurements& m, const float* start, std::uint64_t voxel, cpu_scratch& scratch) const {
    switch (settings_.fibres) {
      case 1:
        return run_cpu_chain<1>(settings_, chain_, m, start, voxel, scratch);
      case 2:
        return run_cpu_chain<2>(settings_, chain_, m, start, voxel, scratch);
      case 3:
        return run_cpu_chain<3>(settings_, chain_, m, start, voxel, scratch);
      case 4:
        return run_cpu_chain<4>(settings_, chain_, m, start, voxel, scratch);
    }
  }

  int threads_;
  settings settings_;
  gradient_table gradients_;
  bool deviates_;
  weighting_table table_;
  chain_settings chain_;
  chain_summary summarise_;
  std::vector<real> columns_;  ///< x, y, z, offset, weighting, `slots` long each
};

}  // namespace

std::unique_ptr<estimator> make_cpu_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                              bool gradient_deviation) {
  return std::make_unique<cpu_estimator>(d, gradients, s, gradient_deviation);
}

}  // namespace voxherd::ballstick
