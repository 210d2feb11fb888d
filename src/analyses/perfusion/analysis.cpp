#include "src/analyses/perfusion/analysis.hpp"

#include "src/analyses/perfusion/map_list.hpp"
#include "src/analyses/perfusion/summary.hpp"

namespace voxherd {

namespace {

using namespace perfusion;

std::string squared_unit(const conversion& c) {
  const std::string unit = concentration_unit(c);
  return unit == "input" ? "input^2" : unit + "^2";
}

class perfusion_runner final : public batch_runner {
 public:
  perfusion_runner(std::unique_ptr<fitter> fit, const map_set& written, double per_density)
      : fitter_(std::move(fit)), written_(written), per_density_(per_density) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    std::size_t next = 0;
    perfusion::outputs out{};
    unused_.resize(items.item_count);
    for (std::size_t m = 0; m < map_count; ++m)
      out.maps[m] = written_[m] ? rows_of<float>(outputs, next++) : unused_.data();
    out.iterations = rows_of<std::uint32_t>(outputs, next++);
    for (std::uint8_t** place : {&out.exit_code, &out.at_bound, &out.status})
      *place = rows_of<std::uint8_t>(outputs, next++);
    fitter_->fit(items.item_count, reinterpret_cast<const float*>(input.data()), out);
    if (per_density_ == 1) return;
    for (std::size_t m = 0; m < map_count; ++m) {
      if (!written_[m] || !is_flow(static_cast<map>(m))) continue;
      for (std::uint64_t i = 0; i < items.item_count; ++i)
        out.maps[m][i] = static_cast<float>(static_cast<double>(out.maps[m][i]) * per_density_);
    }
  }

 private:
  std::unique_ptr<fitter> fitter_;
  map_set written_;
  double per_density_;  ///< ml/g
  std::vector<float> unused_;
};

}  // namespace

perfusion_analysis::perfusion_analysis(perfusion_inputs& inputs, const perfusion_options& o, const tissue_fit& tissue,
                                       const device& d)
    : inputs_(inputs), options_(o), tissue_(tissue), device_(d) {}

std::vector<output_spec> perfusion_analysis::outputs() const {
  const conversion& c = inputs_.findings().convert;
  const map_set written = maps_written(options_.maps, c);
  std::vector<output_spec> list;
  for (const map_text& m : map_texts) {
    if (!written[m.id]) continue;
    const std::string unit = m.id == sum_of_squares ? squared_unit(c) : m.unit;
    list.push_back({m.name, element_type::float32, {}, output_layout::volume, unit, m.meaning});
  }
  const auto code = [&](const char* name, element_type type, const char* unit, const char* meaning) {
    list.push_back({name, type, {}, output_layout::volume, unit, meaning});
  };
  code("iterations", element_type::uint32, "1", "of the solver, from the start that ended best");
  code("exit_code", element_type::uint8, "code", "0 converged, 1 most iterations, 2 no descent, 3 degenerate");
  code("at_bound", element_type::uint8, "bits", "bit 0 kl, 1 ka, 2 kp, 3 tau_a, 4 tau_p: ended at one of its bounds");
  code("status", element_type::uint8, "code", "0 fitted; else why not (voxel_status)");
  return list;
}

std::vector<constant> perfusion_analysis::constants() const {
  const perfusion_findings& found = inputs_.findings();
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
  return list;
}

std::size_t perfusion_analysis::device_bytes_per_item() const {
  const perfusion_findings& found = inputs_.findings();
  return device_bytes_per_voxel(found.frames.frames(), found.convert, options_.fit);
}

std::unique_ptr<item_counts> perfusion_analysis::make_counts() const {
  return std::make_unique<perfusion_counts>(outputs());
}

std::unique_ptr<batch_runner> perfusion_analysis::make_runner() const {
  const perfusion_findings& found = inputs_.findings();
  return std::make_unique<perfusion_runner>(make_fitter(device_, found.frames, found.convert, options_.fit),
                                            maps_written(options_.maps, found.convert), 1 / options_.density_g_per_ml);
}

}  // namespace voxherd
