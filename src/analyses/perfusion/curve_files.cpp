#include "src/analyses/perfusion/curve_files.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/options.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/run_outputs.hpp"
#include "src/analyses/perfusion/plot.hpp"

namespace voxherd {

namespace {

named_output curve_file(const run_settings& how, const char* ending) {
  return {"--out: its file of curves", curve_stem(how.out) + ending, how.overwrite};
}

/// Whether the file has this content already, as after a run that was killed before it made OUT.part.
bool contains(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  return file && std::string(std::istreambuf_iterator<char>(file), {}) == text;
}

/// Whether a stopped run, which is resumed now, has made the file.
bool is_kept(const run_settings& how, const named_output& file, const std::string& text) {
  if (!how.resume || how.overwrite || !std::filesystem::exists(file.path)) return false;
  return std::filesystem::exists(unfinished_path(how.out)) || contains(file.path, text);
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

void check_curve_files(const run_settings& how) {
  for (const char* ending : {".csv", ".svg"}) {
    const named_output file = curve_file(how, ending);
    for (const named_output& other : {json_output(how), trace_output(how)}) {
      if (is_same_file(file.path, other.path))
        option::refuse(
            fmt::format("{} {} is also the file of {}; choose another name", file.option, file.path, other.option));
    }
    if (!how.resume) check_output(file);
  }
}

std::vector<std::string> write_curve_files(const run_settings& how, const perfusion_settings& o,
                                           const perfusion_findings& found, const tissue_fit& tissue) {
  const std::pair<named_output, std::string> files[] = {{curve_file(how, ".csv"), table_of(found, tissue)},
                                                        {curve_file(how, ".svg"), plot_of(o, found, tissue)}};
  std::vector<std::string> made;
  for (const auto& [file, text] : files) {
    if (is_kept(how, file, text)) continue;
    check_not_an_input(file, how.provenance);
    check_output(file);
    if (!std::filesystem::exists(file.path)) made.push_back(file.path);
  }
  for (const auto& [file, text] : files)
    if (!is_kept(how, file, text)) write_output(file, text);
  spdlog::info("curves and the mean curve's fit are in {0}.csv and {0}.svg", curve_stem(how.out));
  return made;
}

}  // namespace voxherd
