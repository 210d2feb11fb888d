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
#include "src/analyses/common/median.hpp"
#include "src/analyses/perfusion/curve_table.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/io/input_file.hpp"

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
  std::vector<double> extras;  ///< mean signal at each flip angle, or median T1, s
  std::size_t voxels = 0;      ///< in the mean
};

enum class region_kind { blood, tissue };

/// `extras`: how many numbers after the frames are used.
bool usable(const float* row, const std::vector<std::uint8_t>& counts, const conversion& convert, std::size_t extras) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0 && !std::isfinite(row[i])) return false;
  for (std::size_t e = 0; e < extras; ++e) {
    const float value = row[counts.size() + e];
    if (!std::isfinite(value)) return false;
    if (convert.t1 == t1_source::map && !perfusion::is_usable_t1(static_cast<double>(value))) return false;
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

/// `voxels` are among those examined. Voxels that have no number in a fitted frame, or no usable T1 if T1 is taken from
/// the voxels, are left out, with a warning. Of T1 the median is used: maps have outliers, which would move the mean.
/// Throws failure (bad_data) if no voxel is left.
region_signal mean_signal(const std::string& name, const looked_rows& looked, const std::vector<std::uint64_t>& voxels,
                          const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                          const conversion& convert, bool t1_is_given) {
  const std::size_t frames = counts.size(), extras = t1_is_given ? 0 : static_cast<std::size_t>(convert.extras());
  const bool has_map = extras > 0 && convert.t1 == t1_source::map;
  region_signal mean{name, std::vector<double>(frames), std::vector<double>(extras), 0};
  std::vector<double> t1_s;
  auto at = looked.voxels.begin();
  for (const std::uint64_t voxel : voxels) {
    at = std::lower_bound(at, looked.voxels.end(), voxel);
    const float* row = looked.rows.data() + static_cast<std::size_t>(at - looked.voxels.begin()) * looked.stride;
    if (!usable(row, counts, convert, extras)) continue;
    for (std::size_t i = 0; i < frames; ++i) mean.frames[i] += static_cast<double>(row[i]);
    for (std::size_t e = 0; e < extras; ++e) mean.extras[e] += static_cast<double>(row[frames + e]);
    if (has_map) t1_s.push_back(static_cast<double>(row[frames]));
    ++mean.voxels;
  }
  const std::string range = fmt::format(" from {:g} to {:g} s", perfusion::min_t1_s, perfusion::max_t1_s);
  if (mean.voxels == 0)
    refuse_data("{}: none of its {} voxels has a number in every frame{}{}", name, voxels.size(),
                extras > 0 ? " and a T1" : "", has_map ? range : "");
  if (mean.voxels < voxels.size())
    spdlog::warn("{}: {} of {} voxels have no number in some frame{}{}; left out of the mean", name,
                 voxels.size() - mean.voxels, voxels.size(), extras > 0 ? ", or no T1" : "", has_map ? range : "");
  for (double& value : mean.frames) value /= static_cast<double>(mean.voxels);
  for (double& value : mean.extras) value /= static_cast<double>(mean.voxels);
  if (has_map) mean.extras[0] = upper_median(t1_s);
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
      refuse_data("{}: no T1 fits its mean signals at the flip angles; give --t1-blood, or --t1", region.name);
    t1_s = fit.t1_s;
  }
  kind == region_kind::blood ? warn_of_blood(region.name, t1_s) : warn_of_tissue(region.name, t1_s);
  return t1_s;
}

/// A region's concentrations. Throws failure (bad_data): no signal before the agent.
std::vector<double> concentrations(const region_signal& region, const conversion& convert, double S0, double t1_s) {
  if (convert.needs_t1() && !(S0 > 0))
    refuse_data("{}: its mean signal before the agent is {:.4g}, expected above 0", region.name, S0);
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
  refuse_data("only {} of {} frames are fitted, for {} parameters; expected more frames than parameters",
              frames.counted(), frames.frames(), free);
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
      refuse_data("--baseline {},{}: all of these frames are skipped or empty", o.baseline->first, o.baseline->second);
  } else {
    std::tie(c.baseline_begin, c.baseline_end) = find_baseline(arterial, found.frames.counts);
    if (c.baseline_end <= c.baseline_begin)
      refuse_data(
          "{} rises from the first frame: there is no baseline before the agent; give --baseline "
          "FIRST,LAST",
          of);
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

  region_signal signal_of(const char* name, const std::vector<std::uint64_t>& voxels, region_kind kind) const {
    return mean_signal(name, looked, voxels, found.frames.time_s, found.frames.counts, found.convert,
                       kind == region_kind::blood && o.t1_blood_s > 0);
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
                                curve_input input, const std::vector<double>& time_s) {
  if (!o.curves.empty()) return read_curve(o.curves, input, "curves", time_s);
  return read_curve(files.curve, input, option, time_s);
}

void check_agent_arrives(const perfusion_settings& o, const inflow_files& files, const char* name,
                         const std::vector<double>& curve) {
  if (*std::max_element(curve.begin(), curve.end()) > 0) return;
  const std::string& file = !files.voi.empty() ? files.voi : files.curve.empty() ? o.curves : files.curve;
  refuse_data("{}: the {} curve has no value above 0, expected the agent's concentration", file, name);
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

void warn_of_unsteady_frames(const region_signal& tissue, const std::vector<std::uint8_t>& counts) {
  const std::size_t count = count_unsteady_frames(tissue.frames, counts);
  if (count == 0) return;
  const auto first = static_cast<std::size_t>(std::find(counts.begin(), counts.end(), 1) - counts.begin());
  std::size_t last = first;
  for (std::size_t left = count; left > 1; --left)
    last = static_cast<std::size_t>(std::find(counts.begin() + static_cast<std::ptrdiff_t>(last) + 1, counts.end(), 1) -
                                    counts.begin());
  const std::string frames = last > first ? fmt::format("{}-{}", first, last) : fmt::format("{}", first);
  spdlog::warn(
      "{} is brighter in frame {} than next ({:.4g}, then {:.4g}): a spoiled gradient echo is not in its steady state "
      "at "
      "first, which falsifies the baseline; --skip-frames {} leaves {} out",
      tissue.name, frames, tissue.frames[first], tissue.frames[last + 1], frames, count > 1 ? "them" : "it");
}

/// Inputs of which one is a multiple of the other.
void check_independent(const perfusion_settings& o, const time_course& f) {
  double aa = 0, ap = 0, pp = 0;
  for (std::size_t i = 0; i < f.frames(); ++i) {
    aa += f.arterial[i] * f.arterial[i];
    ap += f.arterial[i] * f.portal[i];
    pp += f.portal[i] * f.portal[i];
  }
  constexpr double max_rest = 1e-6;  // of the squares: curves written with 4 digits
  if (pp - ap * ap / aa > max_rest * pp) return;
  if (f.arterial == f.portal)
    refuse_data(
        "{}: the arterial and the portal curve are the same, expected those of two vessels; for "
        "one input give --model arterial",
        !o.curves.empty() ? o.curves : o.portal.curve);
  spdlog::warn(
      "the portal curve is {:.4g} times the arterial one in all frames: with equal delays their flows cannot be told "
      "apart, and the equations have no solution; is it measured?",
      ap / aa);
}

void find_inputs(const perfusion_settings& o, const voi_curves& from, const looked_regions& regions,
                 perfusion_findings& found) {
  time_course& f = found.frames;
  region_signal artery, vein;
  if (!regions.arterial.empty()) artery = from.signal_of("the arterial VOI", regions.arterial, region_kind::blood);
  if (!regions.portal.empty()) vein = from.signal_of("the portal VOI", regions.portal, region_kind::blood);
  if (regions.arterial.empty())
    f.arterial = table_curve(o, o.arterial, "arterial-curve", curve_input::arterial, f.time_s);
  find_baseline_frames(o, regions.arterial.empty() ? f.arterial : artery.frames,
                       regions.arterial.empty() ? "the arterial curve" : "the arterial VOI", found);
  if (!regions.arterial.empty())
    f.arterial = from.curve_of(artery, o.arterial_S0 == arterial_baseline::portal ? vein : artery, o.t1_blood_s,
                               region_kind::blood);
  check_arterial_peak(f.arterial, found.convert);
  if (!o.form->has_portal_input()) {
    f.portal.assign(f.frames(), 0);
  } else {
    f.portal = regions.portal.empty() ? table_curve(o, o.portal, "portal-curve", curve_input::portal, f.time_s)
                                      : from.curve_of(vein, vein, o.t1_blood_s, region_kind::blood);
  }
  for (auto* curve : {&f.arterial, &f.portal})
    for (double& c : *curve) c /= 1 - o.haematocrit;
  check_agent_arrives(o, o.arterial, "arterial", f.arterial);
  if (o.form->has_portal_input()) check_agent_arrives(o, o.portal, "portal", f.portal);
  const auto peak = [](const std::vector<double>& c) { return std::max_element(c.begin(), c.end()) - c.begin(); };
  if (o.form->has_portal_input() && peak(f.portal) < peak(f.arterial))
    spdlog::warn("the portal curve peaks at {:.4g} s, before the arterial one at {:.4g} s; are the two swapped?",
                 f.time_s[static_cast<std::size_t>(peak(f.portal))],
                 f.time_s[static_cast<std::size_t>(peak(f.arterial))]);
  if (!o.form->has_portal_input()) return;
  check_independent(o, f);
  compare_late_inputs(o, f, found.convert);
}

}  // namespace

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
  const region_signal tissue =
      from.signal_of(o.delay_roi.empty() ? "the mask" : "--delay-roi", regions.tissue, region_kind::tissue);
  if (found.convert.needs_t1()) warn_of_unsteady_frames(tissue, f.counts);
  find_inputs(o, from, regions, found);
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
