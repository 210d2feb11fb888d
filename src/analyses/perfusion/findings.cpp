#include "src/analyses/perfusion/findings.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

#include "core/options.hpp"
#include "core/text.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

using perfusion::conversion;
using perfusion::signal_kind;
using perfusion::time_course;

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
    const double S0 = find_baseline(S0_of, found.convert, found.frames.counts);
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
