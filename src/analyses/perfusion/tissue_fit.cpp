#include "src/analyses/perfusion/tissue_fit.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/number_text.hpp"
#include "core/option_list.hpp"
#include "kernels/perfusion/host_curves.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/run_files.hpp"

namespace voxherd {

namespace {

using namespace perfusion;

constexpr int starts_of_mean = 4;

/// The mean of many voxels has little noise and decides about the others, so it gets the most thorough fit.
fit_settings settings_of_mean(const fit_settings& voxels) {
  fit_settings s = voxels;
  s.solver = solver_kind::lm;
  s.convolution = convolution_kind::recursion;
  s.precision = precision_kind::float64;
  s.starts = starts_of_mean;
  s.bounded = true;
  s.max_iterations = 600;
  s.relative_tolerance = 1e-10;
  return s;
}

/// "NAME = 4 s, its upper bound": every parameter that ended at one.
std::string bounds_text(const tissue_fit& fit, const perfusion_settings& o) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < fit.values.size(); ++i) {
    if ((fit.at_bound >> i & 1) == 0) continue;
    const parameter& p = o.fit.model->parameters[i];
    const double unit = map_unit(p, o.density_g_per_ml);
    const parameter_rule& rule = o.fit.rules[i];
    const bool upper = fit.values[i] - rule.least * unit > rule.most * unit - fit.values[i];
    parts.push_back(
        fmt::format("{} = {:.4g} {}, its {} bound", p.name, fit.values[i], p.unit().name, upper ? "upper" : "lower"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "NAME 20.1, NAME 99 ml/100g/min, NAME 1.2 s": a unit follows the last of the parameters that have it.
std::string values_text(const tissue_fit& fit, const model_info& model) {
  std::string text;
  const std::vector<std::size_t> order = shown_order(model);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const parameter& p = model.parameters[order[n]];
    const std::string_view unit = p.unit().name;
    const bool unit_follows = n + 1 < order.size() && unit == model.parameters[order[n + 1]].unit().name;
    text += fmt::format("{}{} {:.3g}", n == 0 ? "" : ", ", p.name, fit.values[order[n]]);
    if (!unit_follows && unit != "1") text += fmt::format(" {}", unit);
  }
  return text;
}

void log_fit(const tissue_fit& fit, const perfusion_settings& o) {
  spdlog::info("{}: {}, R2 {:.3f}", o.delay_roi.empty() ? "mean curve of the mask" : "mean curve of --delay-roi",
               values_text(fit, *o.fit.model), fit.r_squared);
  if (fit.at_bound != 0)
    spdlog::warn("the fit of the mean curve ends at {} (--bounds changes bounds, --fix fixes a parameter)",
                 bounds_text(fit, o));
  if (fit.r_squared < 0.8)
    spdlog::warn("the model explains {:.0f} % of the mean curve; are inputs, baseline and units right for the series?",
                 100 * fit.r_squared);
}

}  // namespace

tissue_fit fit_tissue(const perfusion_settings& o, const perfusion_findings& found) {
  const fit_settings settings = settings_of_mean(o.fit);
  const model_info& model = *settings.model;
  const auto fitter = make_fitter({}, found.frames, {}, settings);
  const std::vector<float> row(found.tissue.begin(), found.tissue.end());
  std::vector<float> maps(model.maps);
  std::uint8_t at_bound = 0, status = 0;
  std::vector<void*> out(model.outputs.size());
  for (std::size_t m = 0; m < maps.size(); ++m) out[m] = &maps[m];
  out[output_place(model, "at_bound")] = &at_bound;
  out[output_place(model, "status")] = &status;
  fitter->fit(1, row.data(), out);

  tissue_fit fit;
  fit.fitted = status == 0;
  if (!fit.fitted) {
    spdlog::warn("the mean curve could not be fitted (status {})", status);
    return fit;
  }
  std::vector<double> p;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const quantity_unit unit = model.parameters[i].unit();
    const double per_density = unit.is_per_mass ? 1 / o.density_g_per_ml : 1;
    fit.values.push_back(static_cast<double>(maps[i]) * per_density);
    fit.deviations.push_back(static_cast<double>(maps[model.first_sd + i]) * per_density);
    p.push_back(static_cast<double>(maps[i]) / unit.factor);
  }
  fit.r_squared = static_cast<double>(maps[output_place(model, "r_squared")]);
  fit.at_bound = at_bound;
  fit.curve = model_curve(found.frames, settings, p);
  log_fit(fit, o);
  return fit;
}

namespace {

void put_delay(double delay_s, double window_s, parameter_rule& rule) {
  rule.start = delay_s;
  rule.fixed = window_s == 0;
  rule.least = std::max(rule.least, delay_s - window_s);
  rule.most = std::min(rule.most, delay_s + window_s);
}

}  // namespace

void take_delays(const tissue_fit& fit, perfusion_settings& o) {
  if (!fit.fitted)
    refuse_data(
        "--delays two-stage: the mean curve, which gives the delays, was not fitted; give --delay-roi or "
        "other --delays");
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < o.fit.rules.size(); ++i) {
    parameter_rule& rule = o.fit.rules[i];
    if (!o.fit.model->is_delay(i)) continue;
    if (!rule.fixed) put_delay(fit.values[i], o.delay_window_s, rule);
    chosen.push_back(fmt::format("{} {:.4g}", o.fit.model->parameters[i].name, rule.start));
  }
  spdlog::info("delays of all voxels: {} s{}", fmt::join(chosen, " s, "),
               o.delay_window_s > 0 ? fmt::format(", each within {} s", o.delay_window_s) : "");
}

namespace {

named_output curve_file(const run_settings& how) {
  return {"--out: its file of curves", curve_path(how.out), how.overwrite, file_name::implied};
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
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", number_text(f.time_s[i]), number_text(f.arterial[i]),
                   number_text(f.portal[i]), f.counts[i], number_text(found.tissue[i]));
    text += tissue.fitted ? "," + number_text(tissue.curve[i]) + "\n" : "\n";
  }
  return text;
}

}  // namespace

std::string curve_path(const std::string& result) {
  const std::filesystem::path path(result);
  return (path.parent_path() / path.stem()).string() + ".curves.csv";
}

void check_curve_file(const run_settings& how) {
  const named_output file = curve_file(how);
  for (const named_output& other : {json_output(how), trace_output(how)}) {
    if (is_same_file(file.path, other.path))
      option::refuse(
          fmt::format("{} {} is also the file of {}; choose another name", file.option, file.path, other.option));
  }
  if (!how.resume) check_output(file);
}

std::string write_curve_file(const run_settings& how, const perfusion_findings& found, const tissue_fit& tissue) {
  const named_output file = curve_file(how);
  const std::string text = table_of(found, tissue);
  const bool kept = is_kept(how, file, text), is_new = !std::filesystem::exists(file.path);
  if (!kept) {
    check_output(file, list_inputs(how.provenance));
    write_output(file, text);
  }
  spdlog::info("curves and the mean curve's fit are in {}; `voxherd report` shows them", file.path);
  return is_new ? file.path : "";
}

}  // namespace voxherd
