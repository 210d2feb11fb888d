#include "kernels/ballstick/ballstick_cpu.hpp"

#include "kernels/ballstick/ballstick.hpp"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/summary.hpp"
#include "kernels/voxel_model/cpu_estimator.hpp"

namespace voxherd::ballstick {

namespace {

using real = cpu_scratch::real;

class cpu_stages {
 public:
  using outputs = posterior_outputs;

  cpu_stages(const gradient_table& gradients, const settings& s, bool deviates)
      : settings_(s),
        gradients_(gradients),
        slots_((gradients.size() + real::size() - 1) / real::size()),
        table_(make_weighting_table(gradients, slots_ * real::size())),
        chain_(chain_settings_of(s, gradients.size(), table_.max_weighting)),
        summarise_(s, gradients.size()),
        sizes_(sizes_of(s, gradients.size(), static_cast<int>(table_.x.size()), deviates)) {
    for (const auto* column : {&table_.x, &table_.y, &table_.z, &table_.offset, &table_.weighting}) {
      for (std::size_t i = 0; i < column->size(); i += real::size())
        columns_.emplace_back(column->data() + i, lane::stdx::element_aligned);
    }
  }

  const voxel_model::voxel_sizes& sizes() const { return sizes_; }
  const voxel_model::output_sizes<outputs>& bytes() const { return summarise_.widths; }
  void summarise(const float* samples, const float* acceptance, std::size_t item, const result_arrays& out) const {
    summarise_(samples, acceptance, item, out);
  }

  class worker {
   public:
    explicit worker(const cpu_stages& stages)
        : stages_(stages),
          fitter_(make_cpu_start_fitter(stages.settings_, stages.gradients_)),
          scratch_(stages.slots_, stages.settings_.fibres) {}

    void fit(const float* signals, const float* deviation, float* start, std::size_t, const result_arrays&) {
      fitter_->fit(signals, deviation, start);
      measurements_ = stages_.measurements_of(scratch_, signals, deviation);
    }

    void sample(std::uint64_t voxel, const float* start, float* samples, float* acceptance) {
      const settings& s = stages_.settings_;
      const auto run = [&]<int Fibres>() {
        run_cpu_chain<Fibres>(s, stages_.chain_, measurements_, start, voxel, scratch_, samples, acceptance);
      };
      with_fibres(s.fibres, run);
    }

   private:
    const cpu_stages& stages_;
    std::unique_ptr<cpu_start_fitter> fitter_;
    cpu_scratch scratch_;
    cpu_measurements measurements_{};
  };

 private:
  cpu_measurements measurements_of(cpu_scratch& scratch, const float* signals, const float* deviation) const {
    const real* columns = columns_.data();
    if (deviation != nullptr) {
      scratch.own_table = columns_;
      real* own = scratch.own_table.data();
      for (std::size_t s = 0; s < slots_; ++s) {
        weighted_direction<real> g{own[s], own[s + slots_], own[s + 2 * slots_], own[s + 3 * slots_]};
        deviate(g, own[s + 4 * slots_], deviation);
        own[s] = g.x, own[s + slots_] = g.y, own[s + 2 * slots_] = g.z;
      }
      columns = own;
    }
    return {static_cast<int>(slots_),
            reinterpret_cast<const real*>(signals),
            columns,
            columns + slots_,
            columns + 2 * slots_,
            columns + 3 * slots_,
            columns + 4 * slots_};
  }

  settings settings_;
  gradient_table gradients_;
  std::size_t slots_;
  weighting_table table_;
  chain_settings chain_;
  chain_summary summarise_;
  voxel_model::voxel_sizes sizes_;
  std::vector<real> columns_;  ///< x, y, z, offset, weighting, `slots_` long each
};

}  // namespace

}  // namespace voxherd::ballstick

template <>
voxherd::voxel_model::estimator_of<voxherd::ballstick_model> voxherd::voxel_model::make_cpu_estimator(
    const device& d, const ballstick_model&, const gradient_table& g, bool deviates,
    const ballstick::output_settings& s) {
  return std::make_unique<cpu_estimator<ballstick::cpu_stages>>(d, g, s.chain, deviates);
}
