#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/readable.hpp"
#include "core/version.hpp"
#include "src/io/fingerprint.hpp"
#include "src/tools/report/chart.hpp"
#include "src/tools/report/image_draft.hpp"
#include "src/tools/report/pictures.hpp"
#include "src/tools/report/scan_reading.hpp"

namespace voxherd::report {

namespace {

std::string shell_name(const scan& s, std::size_t i) {
  if (!s.has_gradients()) return s.header.volumes == 1 ? "signal" : "mean signal";
  return "mean signal at b = " + b_text(s.shells[i]);
}

std::vector<float> on_grid(const scan& s, const std::vector<double>& values) {
  std::vector<float> map(s.header.grid.voxel_count());
  for (std::size_t i = 0; i < s.inside.size(); ++i) map[s.inside[i]] = static_cast<float>(values[i]);
  return map;
}

/// Mean of each shell; of a series without gradients also its stability in time.
void add_maps(image_draft& d, const scan& s) {
  d.add_section("Maps");
  for (std::size_t i = 0; i < s.shells.size(); ++i) {
    const auto n = static_cast<double>(s.shells[i].volumes.size());
    std::vector<double> mean = s.sums[i].sum, ratio;
    for (double& v : mean) v /= n;
    const std::string name = shell_name(s, i);
    d.add(name, 1, "input", "mean of " + counted(s.shells[i].volumes.size(), "volume"), on_grid(s, mean));
    add_map(d, name, {.first = 0, .note = "Dark spots and distortions near air are artefacts."});
    const bool is_repeated = n >= 3 && (!s.has_gradients() || !s.shells[i].is_weighted());
    if (!is_repeated) continue;
    for (std::size_t v = 0; v < mean.size(); ++v) {
      const double variance = (s.sums[i].squares[v] - n * mean[v] * mean[v]) / (n - 1);
      ratio.push_back(variance > 0 ? mean[v] / std::sqrt(variance) : 0);
    }
    const std::string steady = s.has_gradients() ? "SNR at b = " + b_text(s.shells[i]) : "temporal SNR";
    d.add(steady, 1, "1", "mean divided by the standard deviation over the volumes", on_grid(s, ratio));
    add_map(d, steady, {.map = colour_map::viridis, .first = 0, .note = "Dark bands are motion or artefacts."});
  }
}

void add_signal(image_draft& d, const scan& s) {
  constexpr double low = 3;  // below, the noise floor biases the signal (Gudbjartsson & Patz 1995)
  d.add_section("Signal and noise");
  table t{"Signal and noise of each shell",
          {s.has_gradients() ? "b (s/mm2)" : "series", "volumes", "median signal", "noise", "SNR"},
          {}};
  for (std::size_t i = 0; i < s.shells.size(); ++i) {
    const double signal = shell_signal(s, i), noise = shell_noise(s, i), snr = noise > 0 ? signal / noise : 0;
    const std::string name = s.has_gradients() ? b_text(s.shells[i]) : "all";
    t.rows.push_back({name, std::to_string(s.shells[i].volumes.size()), number_text(signal), number_text(noise),
                      noise > 0 ? fmt::format("{:.1f}", snr) : ""});
    d.out.numbers["signal"].push_back({{"b", s.has_gradients() ? s.shells[i].min_b : 0},
                                       {"volumes", s.shells[i].volumes.size()},
                                       {"median", signal},
                                       {"noise", noise},
                                       {"SNR", snr}});
    if (noise > 0 && snr < low)
      d.warn(fmt::format("The signal{} is only {:.1f} times the noise: it is biased upwards, and so are fits to it.",
                         s.has_gradients() ? " at b = " + name + " s/mm2" : "", snr));
    if (s.has_gradients() && i > 0 && signal > shell_signal(s, i - 1))
      d.warn(
          fmt::format("The signal at b = {} s/mm2 is higher than at b = {}: do --bvals belong to this scan, and are "
                      "they in the order of its volumes?",
                      name, b_text(s.shells[i - 1])));
  }
  d.out.sections.back().tables.push_back(t);
}

void add_volume_chart(image_draft& d, const scan& s) {
  if (s.header.volumes < 2) return;
  line_chart chart{"Signal of each volume", "volume", "mean in the object", {}, {{"mean signal", {}, {}}}, {}};
  chart.lines.push_back({"noise × 10", {}, series::style::dots});
  for (std::size_t k = 0; k < s.volumes.size(); ++k) {
    chart.x.push_back(static_cast<double>(k));
    chart.lines[0].y.push_back(s.volumes[k].mean);
    chart.lines[1].y.push_back(10 * s.volumes[k].noise);
    d.out.numbers["volume_mean"].push_back(s.volumes[k].mean);
    d.out.numbers["volume_noise"].push_back(s.volumes[k].noise);
  }
  d.out.sections.back().figures.push_back(
      {chart.title,
       draw_lines(chart, chart.title + "."),
       "Volumes of one shell should have about the same signal. The noise is shown ten times as large; volumes with "
       "more of it than their neighbours were disturbed.",
       {line_table(chart)},
       false});
}

/// Whether a slice is much darker than both of its neighbours. Motion and directions change neighbours alike.
bool is_lost(const std::vector<double>& ratios, std::size_t z) {
  constexpr double lost = 0.6;
  return z > 0 && z + 1 < ratios.size() && ratios[z] < lost * std::min(ratios[z - 1], ratios[z + 1]);
}

void add_slices(image_draft& d, const scan& s) {
  constexpr double range = 0.5;
  if (s.header.volumes < 4) return;
  const std::size_t slices = s.header.grid.size[2], volumes = s.volumes.size();
  const std::vector<std::vector<double>> ratios = find_slice_ratios(s);
  rgb_image image(volumes, slices);
  table t{"Slices with less than 60 % of their neighbours' signal", {"volume", "slice", "signal / usual signal"}, {}};
  for (std::size_t k = 0; k < volumes; ++k)
    for (std::size_t z = 0; z < slices; ++z) {
      const double ratio = ratios[k][z];
      if (!std::isfinite(ratio)) continue;
      image.set(k, slices - 1 - z, map_colour(colour_map::viridis, (ratio - 1 + range) / (2 * range)));
      if (is_lost(ratios[k], z)) t.rows.push_back({std::to_string(k), std::to_string(z), fmt::format("{:.2f}", ratio)});
    }
  d.out.numbers["slices_with_low_signal"] = t.rows.size();
  if (!t.rows.empty())
    d.warn(
        fmt::format("{} {} less than 60 % of the signal of the neighbouring slices: the subject moved, or the scanner "
                    "failed, while they were measured.",
                    counted(t.rows.size(), "slice"), t.rows.size() == 1 ? "has" : "have"));
  const std::string text = fmt::format("{} in {}.", counted(slices, "slice"), counted(volumes, "volume"));
  constexpr std::size_t max_rows = 100;
  if (t.rows.size() > max_rows) t.rows.resize(max_rows);
  d.out.sections.back().figures.push_back(
      {"Signal of each slice",
       image_markup(image, text, 1, false) + colour_bar(colour_map::viridis, 1 - range, 1 + range, ""),
       text + " Columns are volumes, rows are slices from the bottom. The colour is the slice's mean divided by the "
              "median of the same slice in its shell; single dark slices are dropouts, dark blocks are motion.",
       t.rows.empty() ? std::vector<table>{} : std::vector<table>{t}, false});
}

void describe_scan(image_draft& d, const scan_files& files, const scan& s) {
  const auto& grid = s.header.grid;
  page& out = d.out;
  out.title = "voxherd report: " + files.image.substr(files.image.find_last_of('/') + 1);
  out.lead = "a scan: volumes, noise and gradients";
  out.facts_title = "Scan";
  out.facts = {"What was read", {}, {}};
  const auto add = [&](const char* name, const std::string& text) { out.facts.rows.push_back({name, text}); };
  add("file", files.image);
  add("image",
      fmt::format("{} voxels of {:.4g} mm", fmt::join(grid.size, " × "), fmt::join(grid.voxel_size_mm, " × ")));
  add("volumes", std::to_string(s.header.volumes));
  add("format", fmt::format("NIfTI-{}, {} bytes per value{}", s.header.version, s.header.bytes_per_value,
                            s.header.compressed ? ", compressed" : ""));
  add("object", fmt::format("{} {}", counted(s.inside.size(), "voxel"),
                            files.mask.empty() ? "that are bright (Otsu's threshold)" : "of the mask"));
  add("voxherd", version);
  out.numbers = {{"scan", files.image},
                 {"voxherd_version", version},
                 {"image", {{"size", grid.size}, {"voxel_size_mm", grid.voxel_size_mm}}},
                 {"volumes", s.header.volumes},
                 {"object_voxels", s.inside.size()}};
  auto& inputs = out.numbers["provenance"]["inputs"];
  for (const auto& [name, path] : {std::pair{"scan", files.image}, std::pair{"bvals", files.bvals},
                                   std::pair{"bvecs", files.bvecs}, std::pair{"mask", files.mask}})
    if (!path.empty()) inputs[name] = find_fingerprint(path);
  for (const std::string& text : s.header.warnings) d.warn(files.image + ": " + text + ".");
}

void write_methods(image_draft& d, const scan& s) {
  d.out.methods = fmt::format(
      "{}The noise of each volume was estimated from the differences between voxels and the mean of their six "
      "neighbours "
      "(Coupé et al. 2008) with voxherd {}; the signal-to-noise ratio of a shell is the median signal in the object "
      "divided by the median noise of its volumes.",
      acquisition_text(s.table), version);
  d.cite(
      "Coupé P, Yger P, Prima S, Hellier P, Kervrann C, Barillot C. An optimized blockwise nonlocal means denoising "
      "filter for 3-D magnetic resonance images. IEEE Trans Med Imaging 27:425-441, 2008.",
      "10.1109/TMI.2007.906087");
}

}  // namespace

page make_scan_page(const scan_files& files) {
  const scan s = read_scan(files);
  image_draft d(s.header.grid);
  describe_scan(d, files, s);
  d.show(s.inside);
  add_maps(d, s);
  add_signal(d, s);
  add_volume_chart(d, s);
  add_slices(d, s);
  if (s.has_gradients()) add_gradients(d, s.table);
  add_output_table(d);
  write_methods(d, s);
  return std::move(d.out);
}

}  // namespace voxherd::report
