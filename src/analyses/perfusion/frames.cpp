#include "src/analyses/perfusion/frames.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/json_text.hpp"
#include "core/option_list.hpp"
#include "src/analyses/common/median.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

/// `place`: names the place of a time in its file.
void check_times(const std::vector<double>& times, const std::function<std::string(std::size_t)>& place) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) refuse_data(fmt::format("{}: found {}, expected a number", place(i), times[i]));
    if (i > 0 && times[i] <= times[i - 1])
      refuse_data(fmt::format("{}: frame {} is at {} s, not after frame {} at {} s; times must increase", place(i), i,
                              times[i], i - 1, times[i - 1]));
  }
}

/// Times in ms make even a series of half a minute appear longer than anyone stays in a scanner.
void check_units(const std::string& source, const std::vector<double>& times) {
  constexpr double max_hours = 6, s_per_hour = 3600;
  const double duration = times.back() - times.front();
  if (!(duration <= max_hours * s_per_hour))
    refuse_data(fmt::format("{}: the frames take {:.4g} hours, expected at most {}; give times in seconds, not in ms",
                            source, duration / s_per_hour, max_hours));
  // The fastest scanners take about 0.3 s per volume; 6 s in minutes are 0.1.
  constexpr double min_spacing_s = 0.1, usual_spacing_s = 0.3, max_spacing_s = 60;
  const double spacing = duration / static_cast<double>(times.size() - 1);
  if (spacing * (1 + 1e-9) < min_spacing_s)
    refuse_data(
        fmt::format("{}: frames are {:.3g} s apart on average, expected at least {} s; give times in seconds, "
                    "not in minutes",
                    source, spacing, min_spacing_s));
  if (spacing > max_spacing_s || spacing < usual_spacing_s)
    spdlog::warn("{}: frames are {:.3g} s apart on average; are the times in {}? expected seconds", source, spacing,
                 spacing > max_spacing_s ? "milliseconds" : "minutes");
}

nlohmann::json read_sidecar(const std::string& path) {
  nlohmann::json sidecar = parse_json(read_text_file(path), printable(path));
  if (!sidecar.is_object())
    refuse_data(fmt::format("{}: is not a JSON object, expected a sidecar of BIDS", printable(path)));
  return sidecar;
}

std::vector<double> repeated_times(const nlohmann::json& spacing, std::size_t frames, const std::string& name) {
  // A volume of a body takes longer, an excitation (which converters call RepetitionTime, too) is shorter.
  constexpr double min_spacing_s = 0.5;
  if (!spacing.is_number() || spacing.get<double>() < min_spacing_s)
    refuse_data(
        fmt::format("{}: RepetitionTime is {}, expected at least {} s from one volume to the next; a repetition "
                    "time of excitations is RepetitionTimeExcitation; add VolumeTiming, the times of the frames",
                    name, spacing.dump(), min_spacing_s));
  std::vector<double> times;
  for (std::size_t i = 0; i < frames; ++i) times.push_back(spacing.get<double>() * static_cast<double>(i));
  return times;
}

/// The start of each frame, or the time between two frames, from a BIDS sidecar.
std::vector<double> read_sidecar_times(const std::string& path, std::size_t frames, const std::string& series) {
  const nlohmann::json sidecar = read_sidecar(path);
  const std::string name = printable(path);
  for (const char* key : {"FrameTimesStart", "VolumeTiming"}) {
    if (!sidecar.contains(key)) continue;
    const nlohmann::json& list = sidecar.at(key);
    if (!list.is_array() || list.size() != frames ||
        !std::all_of(list.begin(), list.end(), [](const nlohmann::json& time) { return time.is_number(); }))
      refuse_data(fmt::format("{}: {} has {} entries, expected {} numbers, one for each frame of {}", name, key,
                              list.size(), frames, series));
    const auto times = list.get<std::vector<double>>();
    check_times(times, [&](std::size_t) { return name + ": " + key; });
    return times;
  }
  if (sidecar.contains("RepetitionTime")) return repeated_times(sidecar.at("RepetitionTime"), frames, name);
  refuse_data(
      fmt::format("{}: has none of FrameTimesStart, VolumeTiming and RepetitionTime, the times of the frames", name));
}

}  // namespace

std::vector<double> read_frame_times(const perfusion_settings& o, std::size_t frames, const std::string& series) {
  std::vector<double> times;
  if (o.times.empty()) {
    for (std::size_t i = 0; i < frames; ++i) times.push_back(o.spacing_s * static_cast<double>(i));
    check_units("--spacing", times);
    return times;
  }
  if (o.times.ends_with(".json")) {
    times = read_sidecar_times(o.times, frames, series);
    check_units(printable(o.times), times);
    return times;
  }
  const number_table table = read_number_table(o.times);
  if (table.values.size() != frames || (table.rows > 1 && table.columns > 1))
    refuse_data(fmt::format("{}: has {} numbers in {} rows, expected {} in one column or row, one for each frame of {}",
                            table.name, table.values.size(), table.rows, frames, series));
  check_times(table.values, [&](std::size_t i) {
    return fmt::format("{}: line {}", table.name, table.row_line[std::min(i / table.columns, table.rows - 1)]);
  });
  check_units(table.name, table.values);
  return table.values;
}

std::vector<std::uint8_t> counted_frames(const perfusion_settings& o, std::size_t frames) {
  std::vector<std::uint8_t> counts(frames, 1);
  for (const auto& [first, last] : o.skipped) {
    if (last >= frames)
      option::refuse(fmt::format("--skip-frames: frame {}, but the series has frames 0 to {}", last, frames - 1));
    std::fill(counts.begin() + static_cast<std::ptrdiff_t>(first),
              counts.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::uint8_t{0});
  }
  return counts;
}

void drop_missing_frames(std::span<const float> rows, std::size_t stride, perfusion::signal_kind signal,
                         std::vector<std::uint8_t>& counts) {
  const std::size_t frames = counts.size(), voxels = rows.size() / stride;
  std::vector<std::uint8_t> empty(frames), broken(frames);
  for (std::size_t i = 0; i < frames; ++i) {
    std::size_t zeros = 0, not_numbers = 0;
    for (std::size_t v = 0; v < voxels; ++v) {
      const float value = rows[v * stride + i];
      zeros += value == 0.0F ? 1 : 0;
      not_numbers += std::isfinite(value) ? 0 : 1;
    }
    empty[i] = zeros == voxels;
    broken[i] = 2 * not_numbers > voxels;
  }
  // Concentrations may be 0 before the agent arrives; after the last frame with a concentration they are padding.
  if (signal == perfusion::signal_kind::concentration) {
    std::size_t end = frames;
    while (end > 0 && empty[end - 1]) --end;
    if (end == 0) return;
    std::fill(empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0});
  }
  std::vector<std::uint8_t> missing(frames, 1);
  std::size_t found = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    if (counts[i] == 0 || (!empty[i] && !broken[i])) continue;
    counts[i] = missing[i] = 0;
    ++found;
  }
  if (found > 0)
    spdlog::warn("frames {} contain only zeros or values that are not numbers; they are not fitted",
                 text_of_skipped(missing));
}

std::string text_of_skipped(const std::vector<std::uint8_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) continue;
    std::size_t last = i;
    while (last + 1 < counts.size() && counts[last + 1] == 0) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
    if (last > i) text += fmt::format("-{}", last);
    i = last;
  }
  return text;
}

void bridge_skipped(const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                    std::vector<double>& values) {
  const std::size_t none = values.size();
  std::size_t before = none;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (counts[i] != 0) {
      before = i;
      continue;
    }
    std::size_t after = i;
    while (after < none && counts[after] == 0) ++after;
    if (before == none || after == none) {
      if (before != none || after != none) values[i] = values[before != none ? before : after];
      continue;
    }
    const double part = (time_s[i] - time_s[before]) / (time_s[after] - time_s[before]);
    values[i] = values[before] + part * (values[after] - values[before]);
  }
}

namespace {

/// Drops last frames above the mean of those before by more than 3 standard deviations and `min_rise`: the curve has
/// begun to rise there, by less than the scatter of the frames around their median suggests.
std::size_t drop_first_rise(const std::vector<double>& curve, const std::vector<std::uint8_t>& counts,
                            std::size_t first, std::size_t end, double min_rise) {
  constexpr std::size_t min_frames = 4;  // fewer do not tell their standard deviation
  constexpr double deviations = 3;
  for (;; --end) {
    std::vector<double> before;
    for (std::size_t i = first; i + 1 < end; ++i)
      if (counts[i] != 0) before.push_back(curve[i]);
    if (before.size() < min_frames) return end;
    const auto n = static_cast<double>(before.size());
    const double mean = std::accumulate(before.begin(), before.end(), 0.0) / n;
    double squares = 0;
    for (const double value : before) squares += (value - mean) * (value - mean);
    const double margin = std::max(deviations * std::sqrt(squares / (n - 1)), min_rise);
    if (!(curve[end - 1] > mean + margin)) return end;
  }
}

}  // namespace

std::pair<int, int> find_baseline(const std::vector<double>& curve, const std::vector<std::uint8_t>& counts) {
  // A smaller rise, so far below the peak, is noise or the first trace of the bolus.
  constexpr double part_of_peak = 0.1, deviations = 4;
  const auto first = static_cast<std::size_t>(std::find(counts.begin(), counts.end(), 1) - counts.begin());
  if (first == curve.size()) return {0, 0};
  const auto peak = static_cast<std::size_t>(
      std::max_element(curve.begin() + static_cast<std::ptrdiff_t>(first), curve.end()) - curve.begin());
  std::size_t end = peak;
  // Backwards from the peak: the baseline is defined first by its lowest quarter, then by its median and scatter.
  std::vector<double> before(curve.begin() + static_cast<std::ptrdiff_t>(first),
                             curve.begin() + static_cast<std::ptrdiff_t>(peak));
  if (before.empty()) return {static_cast<int>(first), static_cast<int>(first)};
  std::nth_element(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(before.size() / 4), before.end());
  double level = before[before.size() / 4], margin = part_of_peak * (curve[peak] - level), min_rise = 0;
  for (int pass = 0; pass < 2; ++pass) {
    end = peak;
    while (end > first && curve[end - 1] > level + margin) --end;
    if (end == first) break;
    std::vector<double> base(curve.begin() + static_cast<std::ptrdiff_t>(first),
                             curve.begin() + static_cast<std::ptrdiff_t>(end));
    level = upper_median(base);
    for (double& b : base) b = std::fabs(b - level);
    constexpr double deviation_of_median = 1.4826;
    min_rise = 0.02 * (curve[peak] - level);
    margin = std::min(margin, std::max(deviations * deviation_of_median * upper_median(base), min_rise));
  }
  if (end > first) end = drop_first_rise(curve, counts, first, end, min_rise);
  return {static_cast<int>(first), static_cast<int>(end)};
}

}  // namespace voxherd
