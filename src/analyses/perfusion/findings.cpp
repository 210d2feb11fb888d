#include "src/analyses/perfusion/findings.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/option_list.hpp"
#include "core/text.hpp"
#include "kernels/perfusion/signal_model.hpp"
#include "kernels/perfusion/t1_fitter.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"

namespace voxherd {

namespace {

using perfusion::conversion;
using perfusion::signal_kind;
using perfusion::t1_source;
using perfusion::time_course;

/// The mean signals of a region, from which its curve is computed.
struct region_signal {
  std::string name;            ///< for messages
  std::vector<double> frames;  ///< interpolated at frames that are not fitted
  std::vector<double> extras;  ///< mean signal at each flip angle, or mean T1, s
  std::size_t voxels = 0;      ///< in the mean
};

enum class region_kind { blood, tissue };

bool usable(const float* row, const std::vector<std::uint8_t>& counts, const conversion& convert) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0 && !std::isfinite(row[i])) return false;
  for (int e = 0; e < convert.extras(); ++e) {
    const float value = row[counts.size() + static_cast<std::size_t>(e)];
    if (!std::isfinite(value) || (convert.t1 == t1_source::map && !(value > 0))) return false;
  }
  return true;
}

/// T1 of blood is about 1.2 s at 0.5 T, 1.4 s at 1.5 T, 1.6 s at 3 T and 2.1 s at 7 T.
void warn_of_blood(const std::string& name, double t1_s) {
  if (t1_s >= 1 && t1_s <= 2.7) return;
  spdlog::warn(
      "{}: T1 of blood before the agent is {:.3g} s, expected 1 to 2.7 s; inflow distorts flip angles in vessels; "
      "give --t1-blood",
      name, t1_s);
}

/// T1 of tissue is 0.2 to 3 s at the field strengths of all scanners.
void warn_of_tissue(const std::string& name, double t1_s) {
  if (t1_s >= 0.2 && t1_s <= 3.5) return;
  spdlog::warn("{}: T1 before the agent is {:.3g} s, expected 0.2 to 3.5 s; check the T1 map or the flip angles", name,
               t1_s);
}

/// `voxels` are among those examined. Voxels that have no number in a fitted frame, or no T1, are left out, with a
/// warning. Throws failure (bad_data) if none is left.
region_signal mean_signal(const std::string& name, const looked_rows& looked, const std::vector<std::uint64_t>& voxels,
                          const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                          const conversion& convert) {
  const std::size_t frames = counts.size();
  region_signal mean{name, std::vector<double>(frames), std::vector<double>(static_cast<std::size_t>(convert.extras())),
                     0};
  auto at = looked.voxels.begin();
  for (const std::uint64_t voxel : voxels) {
    at = std::lower_bound(at, looked.voxels.end(), voxel);
    const float* row = looked.rows.data() + static_cast<std::size_t>(at - looked.voxels.begin()) * looked.stride;
    if (!usable(row, counts, convert)) continue;
    for (std::size_t i = 0; i < frames; ++i) mean.frames[i] += static_cast<double>(row[i]);
    for (std::size_t e = 0; e < mean.extras.size(); ++e) mean.extras[e] += static_cast<double>(row[frames + e]);
    ++mean.voxels;
  }
  if (mean.voxels == 0)
    refuse_data(fmt::format("{}: none of its {} voxels has a number in every frame{}", name, voxels.size(),
                            convert.extras() > 0 ? " and a T1" : ""));
  if (mean.voxels < voxels.size())
    spdlog::warn("{}: {} of {} voxels have no number in some frame{}; left out of the mean", name,
                 voxels.size() - mean.voxels, voxels.size(), convert.extras() > 0 ? ", or no T1" : "");
  for (double& value : mean.frames) value /= static_cast<double>(mean.voxels);
  for (double& value : mean.extras) value /= static_cast<double>(mean.voxels);
  bridge_skipped(time_s, counts, mean.frames);
  return mean;
}

/// S0 of a region: the mean of its baseline frames that are fitted.
double mean_baseline(const region_signal& region, const conversion& convert, const std::vector<std::uint8_t>& counts) {
  double sum = 0;
  int counted = 0;
  for (int i = convert.baseline_begin; i < convert.baseline_end; ++i) {
    if (counts[static_cast<std::size_t>(i)] == 0) continue;
    sum += region.frames[static_cast<std::size_t>(i)];
    ++counted;
  }
  return counted > 0 ? sum / counted : 0;
}

/// T1 of a region, s: `given_s` if it is above 0, else from its extras, else the constant one; 0 if none is used.
/// Throws failure (bad_data) with the region's name.
double t1_of(const region_signal& region, const conversion& convert, double given_s, region_kind kind) {
  if (!convert.needs_t1()) return 0;
  if (given_s > 0) return given_s;
  if (convert.t1 == t1_source::constant) return convert.t1_s;
  double t1_s = 0;
  if (convert.t1 == t1_source::map) {
    t1_s = region.extras[0];
  } else {
    const perfusion::t1_fit fit = perfusion::t1_fitter(convert)(region.extras.data());
    if (!fit.found)
      refuse_data(
          fmt::format("{}: no T1 fits its mean signals at the flip angles; give --t1-blood, or --t1", region.name));
    t1_s = fit.t1_s;
  }
  kind == region_kind::blood ? warn_of_blood(region.name, t1_s) : warn_of_tissue(region.name, t1_s);
  return t1_s;
}

/// A region's concentrations. Throws failure (bad_data): no signal before the agent.
std::vector<double> concentrations(const region_signal& region, const conversion& convert, double S0, double t1_s) {
  if (convert.needs_t1() && !(S0 > 0))
    refuse_data(fmt::format("{}: its mean signal before the agent is {:.4g}, expected above 0", region.name, S0));
  const auto model = perfusion::signal_model(convert, {S0, t1_s});
  std::vector<double> values;
  std::size_t clamped = 0;
  for (const double signal : region.frames) {
    const auto c = model.concentration(signal);
    values.push_back(c.value);
    clamped += c.clamped ? 1 : 0;
  }
  if (clamped == 0) return values;
  std::string settings = "is --relaxivity right";
  if (convert.signal == signal_kind::spoiled_echo)
    settings = fmt::format("are --tr {:g} ms and --flip-angle {:g} degrees right", 1000 * convert.repetition_s,
                           convert.flip_rad * 180 / std::numbers::pi);
  spdlog::warn(
      "{}: in {} the signal is brighter than any concentration explains; limited to {:.3g} of the largest signal; {}? "
      "does inflow distort its baseline (--arterial-baseline portal)?",
      region.name, counted(static_cast<std::uint64_t>(clamped), "frame"), perfusion::voxel_signal_model::max_saturation,
      settings);
  return values;
}

/// There must be more fitted frames than fitted parameters.
void check_counts(const perfusion_settings& o, const time_course& frames) {
  const auto free = static_cast<std::size_t>(
      std::count_if(o.fit.rules.begin(), o.fit.rules.end(), [](const auto& rule) { return !rule.fixed; }));
  if (frames.counted() > free) return;
  refuse_data(fmt::format("only {} of {} frames are fitted, for {} parameters; expected more frames than parameters",
                          frames.counted(), frames.frames(), free));
}

void find_baseline_frames(const perfusion_settings& o, const std::vector<double>& arterial, const char* of,
                          perfusion_findings& found) {
  conversion& c = found.convert;
  if (c.signal == signal_kind::concentration) return;
  const std::size_t frames = found.frames.frames();
  if (o.baseline) {
    if (o.baseline->second >= frames)
      option::refuse(fmt::format("--baseline {},{}: the series has frames 0 to {}", o.baseline->first,
                                 o.baseline->second, frames - 1));
    c.baseline_begin = static_cast<int>(o.baseline->first);
    c.baseline_end = static_cast<int>(o.baseline->second) + 1;
    const auto& counts = found.frames.counts;
    if (std::none_of(counts.begin() + c.baseline_begin, counts.begin() + c.baseline_end, [](auto n) { return n != 0; }))
      refuse_data(fmt::format("--baseline {},{}: all of these frames are skipped or empty", o.baseline->first,
                              o.baseline->second));
  } else {
    std::tie(c.baseline_begin, c.baseline_end) = find_baseline(arterial, found.frames.counts);
    if (c.baseline_end <= c.baseline_begin)
      refuse_data(
          fmt::format("{} rises from the first frame: there is no baseline before the agent; give --baseline "
                      "FIRST,LAST",
                      of));
    spdlog::info("baseline: frames {} to {}, before {} rises (detected; --baseline sets it)", c.baseline_begin,
                 c.baseline_end - 1, of);
    if (c.baseline_end - c.baseline_begin < 3)
      spdlog::warn("the baseline has only {} frame{}; its noise affects all concentrations",
                   c.baseline_end - c.baseline_begin, c.baseline_end - c.baseline_begin == 1 ? "" : "s");
  }
  found.configuration["baseline"] = {c.baseline_begin, c.baseline_end - 1};
}

struct voi_curves {
  const perfusion_settings& o;
  const looked_rows& looked;
  perfusion_findings& found;

  region_signal signal_of(const char* name, const std::vector<std::uint64_t>& voxels) const {
    return mean_signal(name, looked, voxels, found.frames.time_s, found.frames.counts, found.convert);
  }

  /// Concentrations of a VOI; `S0_of`: the VOI whose baseline is used.
  std::vector<double> curve_of(const region_signal& region, const region_signal& S0_of, double given_t1_s,
                               region_kind kind) const {
    const double t1_s = t1_of(region, found.convert, given_t1_s, kind);
    const double S0 = mean_baseline(S0_of, found.convert, found.frames.counts);
    std::vector<double> c = concentrations(region, found.convert, S0, t1_s);
    std::string before;
    if (found.convert.signal != signal_kind::concentration) before = fmt::format(", S0 {:.4g}", S0);
    if (t1_s > 0) before += fmt::format(", T1 {:.3g} s", t1_s);
    const auto peak = std::max_element(c.begin(), c.end());
    spdlog::info("{}: mean of {}{}, peak {:.4g} {} at {:.4g} s", region.name, counted(region.voxels, "voxel"), before,
                 *peak, concentration_unit(found.convert),
                 found.frames.time_s[static_cast<std::size_t>(peak - c.begin())]);
    return c;
  }
};

std::vector<double> table_curve(const perfusion_settings& o, const inflow_files& files, const char* option,
                                std::size_t column, const std::vector<double>& time_s) {
  if (!o.curves.empty()) return read_curve(o.curves, column, "curves", time_s);
  return read_curve(files.curve, 1, option, time_s);
}

void check_agent_arrives(const perfusion_settings& o, const inflow_files& files, const char* name,
                         const std::vector<double>& curve) {
  if (*std::max_element(curve.begin(), curve.end()) > 0) return;
  const std::string& file = !files.voi.empty() ? files.voi : files.curve.empty() ? o.curves : files.curve;
  refuse_data(
      fmt::format("{}: the {} curve has no value above 0, expected the agent's concentration", printable(file), name));
}

/// Blood peaks at 1 to 15 mM after a usual dose, and at 100 to 500 HU.
void check_arterial_peak(const std::vector<double>& curve, const conversion& convert) {
  constexpr double max_HU = 800, min_mM = 0.5, max_mM = 20;
  const double peak = *std::max_element(curve.begin(), curve.end());
  if (convert.signal == signal_kind::ct && peak > max_HU)
    spdlog::warn(
        "the arterial curve peaks at {:.4g} HU above its baseline, expected at most {} in blood; is the series MR? "
        "then give --signal spgr or linear",
        peak, max_HU);
  if (convert.needs_t1() && peak > 0 && (peak < min_mM || peak > max_mM))
    spdlog::warn(
        "the arterial curve peaks at {:.3g} mM, expected {} to {} mM; are --relaxivity {:g} /s/mM, T1 of blood and the "
        "arterial VOI right?",
        peak, min_mM, max_mM, convert.relaxivity_per_mM_s);
}

double mean_between(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
}

/// In the last frames the agent is mixed with the blood, so that artery and portal vein have the same concentration.
void compare_late_inputs(const perfusion_settings& o, const time_course& f, const conversion& convert) {
  constexpr double max_ratio = 1.5;
  const std::size_t frames = f.frames(), late = std::max<std::size_t>(1, frames / 5);
  const double artery = mean_between(f.arterial, frames - late, frames),
               vein = mean_between(f.portal, frames - late, frames);
  if (artery <= 0 || vein <= 0 || std::max(artery, vein) <= max_ratio * std::min(artery, vein)) return;
  const bool is_inflow = artery < vein && convert.needs_t1() && o.arterial_S0 == arterial_baseline::own &&
                         !o.arterial.voi.empty() && !o.portal.voi.empty();
  spdlog::warn(
      "mean of the last {}: arterial curve {:.3g}, portal curve {:.3g} {}; blood mixes, so that they "
      "should agree within a factor of {}; {}",
      counted(late, "frame"), artery, vein, concentration_unit(convert), max_ratio,
      is_inflow ? "if inflow brightens the aorta before the agent, give --arterial-baseline portal"
                : "are the VOIs and the units of both curves right?");
}

/// Concentrations are about 0 before the agent arrives.
void refuse_assumed_concentrations(const perfusion_settings& o, const std::vector<double>& tissue) {
  constexpr std::size_t first_frames = 3;
  constexpr double max_part_of_peak = 0.3;
  if (!o.signal_is_assumed || tissue.size() <= first_frames) return;
  const double start = mean_between(tissue, 0, first_frames), peak = *std::max_element(tissue.begin(), tissue.end());
  if (peak <= 0 || start <= max_part_of_peak * peak) return;
  option::refuse(
      fmt::format("the mean of the mask is {:.4g} in frames 0 to {}, its peak {:.4g}, but a concentration starts "
                  "near 0: if the series is a signal, give --signal spgr, linear or ct; otherwise --signal "
                  "concentration",
                  start, first_frames - 1, peak));
}

void find_inputs(const perfusion_settings& o, const voi_curves& from, const looked_regions& regions,
                 perfusion_findings& found) {
  time_course& f = found.frames;
  region_signal artery, vein;
  if (!regions.arterial.empty()) artery = from.signal_of("the arterial VOI", regions.arterial);
  if (!regions.portal.empty()) vein = from.signal_of("the portal VOI", regions.portal);
  if (regions.arterial.empty()) f.arterial = table_curve(o, o.arterial, "arterial-curve", 1, f.time_s);
  find_baseline_frames(o, regions.arterial.empty() ? f.arterial : artery.frames,
                       regions.arterial.empty() ? "the arterial curve" : "the arterial VOI", found);
  if (!regions.arterial.empty())
    f.arterial = from.curve_of(artery, o.arterial_S0 == arterial_baseline::portal ? vein : artery, o.t1_blood_s,
                               region_kind::blood);
  check_arterial_peak(f.arterial, found.convert);
  if (o.model == inflow_model::arterial) {
    f.portal.assign(f.frames(), 0);
  } else {
    f.portal = regions.portal.empty() ? table_curve(o, o.portal, "portal-curve", 2, f.time_s)
                                      : from.curve_of(vein, vein, o.t1_blood_s, region_kind::blood);
  }
  for (auto* curve : {&f.arterial, &f.portal})
    for (double& c : *curve) c /= 1 - o.haematocrit;
  check_agent_arrives(o, o.arterial, "arterial", f.arterial);
  if (o.model != inflow_model::arterial) check_agent_arrives(o, o.portal, "portal", f.portal);
  const auto peak = [](const std::vector<double>& c) { return std::max_element(c.begin(), c.end()) - c.begin(); };
  if (o.model == inflow_model::dual && peak(f.portal) < peak(f.arterial))
    spdlog::warn("the portal curve peaks at {:.4g} s, before the arterial one at {:.4g} s; are the two swapped?",
                 f.time_s[static_cast<std::size_t>(peak(f.portal))],
                 f.time_s[static_cast<std::size_t>(peak(f.arterial))]);
  if (o.model == inflow_model::dual) compare_late_inputs(o, f, found.convert);
}

}  // namespace

std::vector<double> read_curve(const std::string& path, std::size_t column, const char* option,
                               const std::vector<double>& time_s) {
  const number_table t = read_number_table(path, header_line::allowed);
  if (t.columns <= column)
    refuse_data(fmt::format("{}: has {} columns, expected at least {} for --{}: time in s, then {}", t.name, t.columns,
                            column + 1, option, column > 1 ? "arterial and portal concentration" : "concentration"));
  if (t.rows < 2) refuse_data(fmt::format("{}: has {} row of numbers, expected at least 2", t.name, t.rows));
  for (std::size_t r = 0; r < t.rows; ++r) {
    if (!std::isfinite(t.at(r, 0)) || !std::isfinite(t.at(r, column)))
      refuse_data(fmt::format("{}: line {}: found {} {}, expected numbers", t.name, t.row_line[r], t.at(r, 0),
                              t.at(r, column)));
    if (r > 0 && t.at(r, 0) <= t.at(r - 1, 0))
      refuse_data(fmt::format("{}: line {}: {} s is not after {} s; times must increase", t.name, t.row_line[r],
                              t.at(r, 0), t.at(r - 1, 0)));
  }
  // A curve may be up to one frame shorter than the series at each end, where its nearest value is used.
  const double frame = (time_s.back() - time_s.front()) / static_cast<double>(time_s.size() - 1);
  const double from = t.at(0, 0), to = t.at(t.rows - 1, 0);
  if (time_s.front() < from - frame || time_s.back() > to + frame)
    refuse_data(fmt::format("{}: has times from {} to {} s, expected at least the frames' {} to {} s", t.name, from, to,
                            time_s.front(), time_s.back()));
  std::vector<double> values;
  std::size_t r = 1;
  for (const double time : time_s) {
    while (r + 1 < t.rows && t.at(r, 0) < time) ++r;
    const double t0 = t.at(r - 1, 0), t1 = t.at(r, 0), c0 = t.at(r - 1, column), c1 = t.at(r, column);
    values.push_back(c0 + std::clamp((time - t0) / (t1 - t0), 0.0, 1.0) * (c1 - c0));
  }
  return values;
}

std::string concentration_unit(const conversion& convert) {
  if (convert.signal == signal_kind::concentration) return "input";
  return convert.signal == signal_kind::ct ? "HU" : "mM";
}

void find_in_series(const perfusion_settings& o, const looked_rows& looked, const looked_regions& regions,
                    perfusion_findings& found) {
  time_course& f = found.frames;
  drop_missing_frames(looked.rows, looked.stride, found.convert.signal, f.counts);
  check_counts(o, f);
  const voi_curves from{o, looked, found};
  find_inputs(o, from, regions, found);
  const region_signal tissue = from.signal_of(o.delay_roi.empty() ? "the mask" : "--delay-roi", regions.tissue);
  found.tissue = from.curve_of(tissue, tissue, 0, region_kind::tissue);
  refuse_assumed_concentrations(o, found.tissue);
  found.configuration["skipped-frames"] = text_of_skipped(f.counts);
  if (f.spacing_s() > 0) {
    spdlog::info("{} frames, {:.4g} s apart; {} are fitted", f.frames(), f.spacing_s(), f.counted());
  } else {
    spdlog::info("{} frames at uneven times from {:.4g} to {:.4g} s; {} are fitted", f.frames(), f.time_s.front(),
                 f.time_s.back(), f.counted());
  }
}

}  // namespace voxherd
