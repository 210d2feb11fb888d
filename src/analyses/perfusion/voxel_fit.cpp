#include "src/analyses/perfusion/voxel_fit.hpp"

#include <string_view>

#include "kernels/perfusion/perfusion.hpp"
#include "src/analyses/perfusion/counts.hpp"

namespace voxherd {

namespace {

using namespace perfusion;

std::string squared_unit(const conversion& c) {
  const std::string unit = concentration_unit(c);
  return unit == "input" ? "input^2" : unit + "^2";
}

class perfusion_runner final : public batch_runner {
 public:
  perfusion_runner(std::unique_ptr<fitter> fit, const model_info& model, const map_set& written, double per_density)
      : fitter_(std::move(fit)), model_(model), written_(written), per_density_(per_density) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    std::vector<void*> arrays(written_.size(), nullptr);
    for (std::size_t i = 0, next = 0; i < arrays.size(); ++i)
      if (written_[i]) arrays[i] = outputs[next++].data();
    fitter_->fit(items.item_count, reinterpret_cast<const float*>(input.data()), arrays);
    if (per_density_ == 1) return;
    for (std::size_t m = 0; m < model_.maps; ++m) {
      if (!written_[m] || model_.outputs[m].unit != std::string_view(unit_of(quantity::flow).name)) continue;
      const std::span<float> values(static_cast<float*>(arrays[m]), items.item_count);
      for (float& value : values) value = static_cast<float>(static_cast<double>(value) * per_density_);
    }
  }
  void release_memory() override { fitter_->release_memory(); }

 private:
  std::unique_ptr<fitter> fitter_;
  const model_info& model_;
  map_set written_;
  double per_density_;  ///< ml/g
};

}  // namespace

perfusion_analysis::perfusion_analysis(perfusion_inputs& inputs, const perfusion_settings& o, const tissue_fit& tissue,
                                       const device& d, std::vector<constant> regions)
    : voxelwise_base("perfusion", inputs, d, std::move(regions)), options_(o), tissue_(tissue) {}

std::vector<output_spec> perfusion_analysis::outputs() const {
  const conversion& c = input_.findings().convert;
  const model_info& model = *options_.fit.model;
  const map_set written = maps_written(options_.maps, c, model);
  std::vector<output_spec> list;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i]) continue;
    list.push_back(model.outputs[i].spec());
    if (list.back().name == "sum_of_squares") list.back().unit = squared_unit(c);
  }
  return list;
}

std::vector<constant> perfusion_analysis::constants() const {
  const perfusion_findings& found = input_.findings();
  const std::string unit = concentration_unit(found.convert);
  const std::uint64_t n = found.frames.frames();
  std::vector<constant> list;
  const auto add = [&](const char* name, const std::vector<double>& values, const std::string& u, const char* meaning) {
    list.push_back({name, {n}, values, u, meaning, "curves"});
  };
  add("time", found.frames.time_s, "s", "time of each frame");
  add("arterial", found.frames.arterial, unit, "arterial input at each frame");
  add("portal", found.frames.portal, unit, "portal input at each frame");
  add("counted", {found.frames.counts.begin(), found.frames.counts.end()}, "1", "1: the frame is fitted");
  add("tissue", found.tissue, unit, "mean curve of the mask, or of --delay-roi");
  if (tissue_.fitted) add("tissue_fit", tissue_.curve, unit, "the model fitted to it");
  for (constant& region : voxelwise_base::constants()) list.push_back(std::move(region));
  return list;
}

std::size_t perfusion_analysis::device_bytes_per_item() const {
  const perfusion_findings& found = input_.findings();
  return device_bytes_per_voxel(found.frames.frames(), found.convert, options_.fit);
}

std::unique_ptr<item_counts> perfusion_analysis::make_counts() const {
  return std::make_unique<perfusion_counts>(outputs(), *options_.fit.model);
}

std::unique_ptr<batch_runner> perfusion_analysis::make_runner() const {
  const perfusion_findings& found = input_.findings();
  const model_info& model = *options_.fit.model;
  return std::make_unique<perfusion_runner>(make_fitter(device_, found.frames, found.convert, options_.fit), model,
                                            maps_written(options_.maps, found.convert, model),
                                            1 / options_.density_g_per_ml);
}

}  // namespace voxherd
