#include "src/analyses/perfusion/input_curves.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "kernels/perfusion/signal_model.hpp"
#include "kernels/perfusion/t1_fitter.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"

namespace voxherd {

namespace {

using perfusion::conversion;
using perfusion::t1_source;

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

}  // namespace

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

double find_baseline(const region_signal& region, const conversion& convert, const std::vector<std::uint8_t>& counts) {
  double sum = 0;
  int counted = 0;
  for (int i = convert.baseline_begin; i < convert.baseline_end; ++i) {
    if (counts[static_cast<std::size_t>(i)] == 0) continue;
    sum += region.frames[static_cast<std::size_t>(i)];
    ++counted;
  }
  return counted > 0 ? sum / counted : 0;
}

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
  if (clamped > 0)
    spdlog::warn(
        "{}: in {} the signal is brighter than any concentration explains; limited to {:.3g} of the largest "
        "signal; are --tr (in ms) and --flip-angle right? does inflow distort its baseline (--arterial-baseline "
        "portal)?",
        region.name, counted(static_cast<std::uint64_t>(clamped), "frame"),
        perfusion::voxel_signal_model::max_saturation);
  return values;
}

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

}  // namespace voxherd
