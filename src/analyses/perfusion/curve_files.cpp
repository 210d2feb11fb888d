#include "src/analyses/perfusion/curve_files.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <iterator>

#include "src/analyses/perfusion/plot.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

namespace {

void write(const std::string& path, const std::string& text) {
  output_file file(path, output_file::coding::plain);
  file.write(text.data(), text.size());
  file.finish();
}

std::string table_of(const perfusion_findings& found, const tissue_fit& tissue) {
  const auto& f = found.frames;
  std::string text = "t_s,arterial,portal,counted,tissue";
  text += tissue.fitted ? ",tissue_fit\n" : "\n";
  for (std::size_t i = 0; i < f.frames(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", f.time_s[i], f.arterial[i], f.portal[i], f.counts[i],
                   found.tissue[i]);
    text += tissue.fitted ? fmt::format(",{}\n", tissue.curve[i]) : "\n";
  }
  return text;
}

std::string plot_of(const perfusion_settings& o, const perfusion_findings& found, const tissue_fit& tissue) {
  const std::string unit = concentration_unit(found.convert);
  const std::string y_label = unit == "input" ? "concentration" : "concentration, " + unit;
  std::vector<std::uint8_t> skipped;
  for (const auto counted : found.frames.counts) skipped.push_back(counted == 0);
  const plot_panel empty{"", "time, s", y_label, found.frames.time_s, {}, skipped};

  plot_panel inputs = empty;
  inputs.title = o.haematocrit > 0 ? fmt::format("input curves, over 1 - {}", o.haematocrit) : "input curves";
  inputs.lines.push_back({"arterial", "#c0392b", plot_line::style::line, found.frames.arterial});
  if (o.model == inflow_model::dual)
    inputs.lines.push_back({"portal", "#2050a0", plot_line::style::line, found.frames.portal});

  plot_panel mean = empty;
  mean.title = o.delay_roi.empty() ? "mean curve of the mask" : "mean curve of --delay-roi";
  mean.lines.push_back({"mean", "#404040", plot_line::style::dots, found.tissue});
  if (tissue.fitted) {
    const auto& v = tissue.values;
    mean.title += fmt::format(": ka {:.3g}, kp {:.3g}, kl {:.3g} ml/100g/min, tau {:.3g}, {:.3g} s", v[perfusion::ka],
                              v[perfusion::kp], v[perfusion::kl], v[perfusion::tau_a], v[perfusion::tau_p]);
    mean.lines.push_back(
        {fmt::format("model, R2 {:.3f}", tissue.r_squared), "#208040", plot_line::style::line, tissue.curve});
  }
  return draw_svg({inputs, mean});
}

}  // namespace

std::string curve_stem(const std::string& result) {
  const std::filesystem::path path(result);
  return (path.parent_path() / path.stem()).string() + ".curves";
}

void write_curve_files(const std::string& result, const perfusion_settings& o, const perfusion_findings& found,
                       const tissue_fit& tissue) {
  const std::string stem = curve_stem(result);
  write(stem + ".csv", table_of(found, tissue));
  write(stem + ".svg", plot_of(o, found, tissue));
  spdlog::info("curves and the mean curve's fit are in {0}.csv and {0}.svg", stem);
}

}  // namespace voxherd
