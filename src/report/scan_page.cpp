#include "src/report/report_pages.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/program_build.hpp"
#include "core/text.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/direction_check.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/show/chart.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/distribution.hpp"
#include "src/show/draft.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// What one volume shows inside the object.
struct volume_facts {
  double mean = 0, noise = 0;
  std::vector<double> slice_mean;  ///< along the file's third axis; NaN for slices at the object's ends
};

/// Sums over the volumes of a shell.
struct volume_sums {
  std::vector<double> sum, squares;
};

struct scan {
  nifti_header header;
  gradient_table table;
  std::vector<shell> shells;  ///< one with all volumes if there are no gradients
  std::vector<std::uint64_t> inside;
  std::vector<volume_facts> volumes;
  std::vector<volume_sums> sums;
  direction_frame frame = direction_frame::fsl;
  direction_check check;
  bool has_gradients() const { return table.size() > 0; }
};

std::size_t shell_number(const scan& s, std::size_t volume) {
  for (std::size_t i = 0; i < s.shells.size(); ++i)
    if (std::count(s.shells[i].volumes.begin(), s.shells[i].volumes.end(), volume) > 0) return i;
  return 0;
}

/// The mask, or the bright voxels of the first volume without weighting.
std::vector<std::uint64_t> object_voxels(const scan_files& files, const scan& s) {
  if (!files.mask.empty()) return voxels_inside(files.mask, s.header);
  const std::vector<float> volume = read_volume(s.header, s.shells.front().volumes.front());
  const double threshold = bright_threshold(volume);
  std::vector<std::uint64_t> bright;
  for (std::uint64_t v = 0; v < volume.size(); ++v)
    if (static_cast<double>(volume[v]) > threshold) bright.push_back(v);
  if (bright.empty()) refuse_data("{}: all voxels have the same value; give --mask FILE", s.header.path);
  return bright;
}

volume_facts look_at(const scan& s, std::span<const float> volume) {
  const auto& n = s.header.grid.size;
  std::vector<double> sum(n[2]);
  std::vector<std::size_t> count(n[2]);
  volume_facts facts;
  for (const std::uint64_t v : s.inside) {
    if (!std::isfinite(volume[v])) continue;
    sum[v / (n[0] * n[1])] += static_cast<double>(volume[v]);
    ++count[v / (n[0] * n[1])];
  }
  const std::size_t min_voxels = std::max<std::size_t>(50, *std::max_element(count.begin(), count.end()) / 10);
  double all = 0, voxels = 0;
  for (std::size_t z = 0; z < n[2]; ++z) {
    all += sum[z], voxels += static_cast<double>(count[z]);
    facts.slice_mean.push_back(count[z] < min_voxels ? std::nan("") : sum[z] / static_cast<double>(count[z]));
  }
  facts.mean = voxels > 0 ? all / voxels : 0;
  facts.noise = estimate_noise(volume, {n[0], n[1], n[2]}, s.inside);
  return facts;
}

/// The part of a volume that the check of the directions looks at.
void keep_for_check(scan& s, std::uint64_t number, std::span<const float> volume) {
  const auto& volumes = s.check.volumes();
  const auto found = std::lower_bound(volumes.begin(), volumes.end(), number);
  if (found == volumes.end() || *found != number) return;
  const auto& items = s.check.items();
  for (std::size_t i = 0; i < items.size(); ++i)
    s.check.signal(i, static_cast<std::size_t>(found - volumes.begin())) = volume[s.inside[items[i]]];
}

void read_volumes(scan& s) {
  const std::size_t voxels = s.header.grid.voxel_count();
  for (std::size_t i = 0; i < s.shells.size(); ++i)
    s.sums.push_back({std::vector<double>(s.inside.size()), std::vector<double>(s.inside.size())});
  nifti_reader reader(s.header);
  std::vector<float> volume(voxels);
  for (std::uint64_t k = 0; k < s.header.volumes; ++k) {
    reader.read(k, 0, voxels, volume.data());
    s.volumes.push_back(look_at(s, volume));
    keep_for_check(s, k, volume);
    volume_sums& sums = s.sums[shell_number(s, k)];
    for (std::size_t i = 0; i < s.inside.size(); ++i) {
      const auto value = static_cast<double>(volume[s.inside[i]]);
      sums.sum[i] += value, sums.squares[i] += value * value;
    }
  }
}

/// Reads all volumes once. Throws failure (missing_input, bad_data).
scan read_scan(const scan_files& files) {
  scan s;
  s.header = read_nifti_header(files.image);
  log_warnings(s.header);
  if (!files.gradients.bvals.empty()) {
    s.frame = find_frame(files.gradients);
    s.table = read_gradients(files.gradients, s.header.grid, s.header.volumes);
  }
  s.shells = find_shells(s.table);
  if (s.shells.empty()) {
    s.shells.push_back({});
    for (std::size_t k = 0; k < s.header.volumes; ++k) s.shells.front().volumes.push_back(k);
  }
  s.inside = object_voxels(files, s);
  if (s.has_gradients()) s.check = direction_check(s.header.grid, s.table, s.frame, s.inside);
  read_volumes(s);
  return s;
}

/// The median of the noise of the volumes of shell number i.
double shell_noise(const scan& s, std::size_t i) {
  std::vector<double> noise;
  for (const std::size_t k : s.shells[i].volumes) noise.push_back(s.volumes[k].noise);
  return median(std::move(noise));
}

/// The median over voxels of the mean signal of shell number i.
double shell_signal(const scan& s, std::size_t i) {
  std::vector<double> signal;
  const auto n = static_cast<double>(s.shells[i].volumes.size());
  for (const double sum : s.sums[i].sum) signal.push_back(sum / n);
  return median(std::move(signal));
}

/// (volume, slice): mean signal divided by the median of the same slice in its shell; NaN where it is not known.
std::vector<std::vector<double>> find_slice_ratios(const scan& s) {
  const std::size_t slices = s.header.grid.size[2];
  std::vector<std::vector<double>> ratios(s.volumes.size(), std::vector<double>(slices, std::nan("")));
  for (const shell& one : s.shells)
    for (std::size_t z = 0; z < slices; ++z) {
      std::vector<double> means;
      for (const std::size_t k : one.volumes) means.push_back(s.volumes[k].slice_mean[z]);
      if (std::any_of(means.begin(), means.end(), [](double v) { return !std::isfinite(v); })) continue;
      const double usual = median(means);
      for (std::size_t i = 0; usual > 0 && i < means.size(); ++i) ratios[one.volumes[i]][z] = means[i] / usual;
    }
  return ratios;
}

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

/// Along which flip or swap of the directions streamlines run furthest, and a warning if one is better than the table.
void check_gradients(image_draft& d, const scan_files& files, const scan& s) {
  constexpr std::size_t shown = 4;
  const std::vector<direction_score> scores = s.check.scores();
  section& part = d.out.sections.back();
  if (scores.empty()) {
    part.paragraphs.push_back(
        "Flips and swaps of the directions were not tested: too few voxels have a main direction.");
    return;
  }
  table t{"Length of streamlines per wrong end (mm)", {"directions", "length"}, {}};
  for (std::size_t i = 0; i < shown; ++i)
    t.rows.push_back({i == 0 ? "as they are" : scores[i].change, fmt::format("{:.1f}", scores[i].free_mm)});
  part.tables.push_back(t);
  const auto better = find_better(scores, s.header.grid);
  d.out.numbers["gradient_check"] = {{"length_mm", scores[0].free_mm},
                                     {"best_other", scores[1].change},
                                     {"best_other_length_mm", scores[1].free_mm},
                                     {"is_right", !better}};
  part.paragraphs.push_back(fmt::format(
      "Streamlines through a part of the image follow the main directions of tensors. If the directions fit the image, "
      "few of them end wrongly, at a sharp turn or outside white matter; each of the other flips and swaps of axes was "
      "tried. {}",
      better ? "One of them is better: see the warning."
             : "None of them is clearly better: the directions are right."));
  if (better)
    d.warn(fmt::format("{}: {}. Correct the file{} before anything is fitted.", files.gradients.bvecs,
                       describe_better(*better, scores[0]), frame_advice(*better, s.frame)));
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
  for (const auto& [name, path] : {std::pair{"scan", files.image}, std::pair{"bvals", files.gradients.bvals},
                                   std::pair{"bvecs", files.gradients.bvecs}, std::pair{"mask", files.mask}})
    if (!path.empty()) inputs[name] = find_fingerprint(path);
  if (s.frame != direction_frame::fsl) {
    inputs["bvecs"]["form"] = frame_form(s.frame);
    add("bvecs", "read as " + frame_form(s.frame));
  }
  for (const std::string& text : s.header.warnings) d.warn(files.image + ": " + text + ".");
}

void write_methods(image_draft& d, const scan& s) {
  d.out.methods = fmt::format(
      "{}The noise of each volume was estimated from the differences between voxels and the mean of their six "
      "neighbours "
      "(Coupé et al. 2008) with {}; the signal-to-noise ratio of a shell is the median signal in the object "
      "divided by the median noise of its volumes.",
      acquisition_text(s.table), program_name());
  d.cite(
      "Coupé P, Yger P, Prima S, Hellier P, Kervrann C, Barillot C. An optimized blockwise nonlocal means denoising "
      "filter for 3-D magnetic resonance images. IEEE Trans Med Imaging 27:425-441, 2008.",
      "10.1109/TMI.2007.906087");
}

}  // namespace

page make_scan_page(const scan_files& files, view_sides sides) {
  const scan s = read_scan(files);
  image_draft d(s.header.grid, sides);
  describe_scan(d, files, s);
  d.show(s.inside);
  add_maps(d, s);
  add_signal(d, s);
  add_volume_chart(d, s);
  add_slices(d, s);
  if (s.has_gradients()) {
    add_gradients(d, s.table);
    check_gradients(d, files, s);
  }
  add_output_table(d);
  write_methods(d, s);
  return std::move(d.out);
}

}  // namespace voxherd::report
