#include <algorithm>

#include "kernels/device/each_cpu.hpp"
#include "kernels/noddi/noddi.hpp"
#include "kernels/noddi/noddi_cpu.hpp"
#include "kernels/noddi/summary.hpp"
#include "kernels/voxel_model/deviated_gradients.hpp"
#include "kernels/voxel_model/voxel_preparer.hpp"

namespace voxherd::noddi {

namespace {

class cpu_estimator final : public estimator {
 public:
  cpu_estimator(const device& d, const gradient_table& gradients, const settings& s, bool deviates)
      : threads_(std::max(d.threads, 1)),
        settings_(s),
        gradients_(gradients),
        deviates_(deviates),
        protocol_(gradients, s),
        bytes_(output_widths<noddi_outputs>(s)),
        layout_(make_parameter_layout(s.dot, s.samples_tau())) {
    if (s.samples > 0) table_ = protocol_.chain_table();
  }

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) override {
    each_team_on_cpu(threads_, count, 4, [&] {
      const auto own = std::make_shared<thread_memory>(*this);
      const std::size_t row_floats = gradients_.size() + (deviates_ ? 9 : 0);
      return [=, this](std::size_t i) { estimate(i, voxels[i], rows + i * row_floats, *own, out); };
    });
  }

 private:
  /// One thread's memory for one voxel at a time.
  struct thread_memory {
    explicit thread_memory(const cpu_estimator& e) : signals(e.gradients_.size()) {
      record.samples.resize(static_cast<std::size_t>(e.layout_.count * e.settings_.samples));
      if (!e.deviates_) use(e.protocol_, e.table_, e.settings_);
    }
    void use(const protocol& p, const std::vector<float>& table, const settings& s) {
      fitter = make_cpu_fitter(p, s);
      if (s.samples > 0) chain = make_cpu_chain(p, table, s);
    }
    std::vector<float> signals;
    std::unique_ptr<cpu_fitter> fitter;
    std::unique_ptr<cpu_chain> chain;
    chain_record record;
  };

  void estimate(std::size_t item, std::uint64_t voxel, const float* row, thread_memory& own,
                const result_arrays& out) const {
    if (!deviates_) return estimate(protocol_, item, voxel, row, own, out);
    // The voxel's own b-values, each with a table.
    const protocol p(voxel_model::deviated(gradients_, row + gradients_.size()), settings_,
                     static_cast<int>(gradients_.size()));
    std::vector<float> table;
    if (settings_.samples > 0) table = p.chain_table();
    own.use(p, table, settings_);
    estimate(p, item, voxel, row, own, out);
    own.fitter.reset(), own.chain.reset();
  }

  void estimate(const protocol& p, std::size_t item, std::uint64_t voxel, const float* row, thread_memory& own,
                const result_arrays& out) const {
    const int k = static_cast<int>(p.measurements());
    const voxel_status status =
        voxel_model::voxel_preparer{k, k, settings_.noise}(row, own.signals.data(), p.order.data());
    out.put<"status">(item, status);
    if (status != voxel_status::fitted) return clear(bytes_, item, out);
    const fit_result best = own.fitter->fit(own.signals.data());
    store(best, item, out);
    if (own.chain == nullptr) return;
    float start[max_parameters];
    store_start(best, layout_, start);
    own.chain->run(own.signals.data(), start, voxel, own.record);
    chain_summary{layout_, settings_.samples}(own.record.samples.data(), own.record.acceptance, item, out);
  }

  int threads_;
  settings settings_;
  gradient_table gradients_;
  bool deviates_;
  protocol protocol_;
  output_sizes bytes_;
  parameter_layout layout_;
  std::vector<float> table_;
};

}  // namespace

std::unique_ptr<estimator> make_cpu_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                              bool deviates) {
  return std::make_unique<cpu_estimator>(d, gradients, s, deviates);
}

}  // namespace voxherd::noddi
