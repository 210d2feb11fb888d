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
#include "src/analyses/perfusion/curve_table.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

/// `place`: names the place of a time in its file.
void check_times(const std::vector<double>& times, const std::function<std::string(std::size_t)>& place) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) refuse_data("{}: found {}, expected a number", place(i), times[i]);
    if (i > 0 && times[i] <= times[i - 1])
      refuse_data("{}: frame {} is at {} s, not after frame {} at {} s; times must increase", place(i), i, times[i],
                  i - 1, times[i - 1]);
  }
}

/// Times in ms make even a series of half a minute appear longer than anyone stays in a scanner.
void check_units(const std::string& source, const std::vector<double>& times) {
  constexpr double max_hours = 6, s_per_hour = 3600;
  const double duration = times.back() - times.front();
  if (!(duration <= max_hours * s_per_hour))
    refuse_data("{}: the frames take {:.4g} hours, expected at most {}; give times in seconds, not in ms", source,
                duration / s_per_hour, max_hours);
  // The fastest scanners take about 0.3 s per volume; 6 s in minutes are 0.1.
  constexpr double min_spacing_s = 0.1, usual_spacing_s = 0.3, max_spacing_s = 60;
  const double spacing = duration / static_cast<double>(times.size() - 1);
  if (spacing * (1 + 1e-9) < min_spacing_s)
    refuse_data(
        "{}: frames are {:.3g} s apart on average, expected at least {} s; give times in seconds, "
        "not in minutes",
        source, spacing, min_spacing_s);
  if (spacing > max_spacing_s || spacing < usual_spacing_s)
    spdlog::warn("{}: frames are {:.3g} s apart on average; are the times in {}? expected seconds", source, spacing,
                 spacing > max_spacing_s ? "milliseconds" : "minutes");
}

std::vector<double> gaps_between(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

/// Sum of the gaps' distances from their median.
double unevenness(const std::vector<double>& times) {
  const std::vector<double> gaps = gaps_between(times);
  std::vector<double> sorted = gaps;
  const double usual = upper_median(sorted);
  return std::accumulate(gaps.begin(), gaps.end(), 0.0,
                         [&](double sum, double gap) { return sum + std::fabs(gap - usual); });
}

/// Seconds since midnight of clock times HHMMSS.FFFFFF read as numbers, as in DICOM's AcquisitionTime. Empty if they
/// are none: a minute or a second above 59.
std::vector<double> as_clock_times(const std::vector<double>& numbers) {
  std::vector<double> seconds;
  for (const double number : numbers) {
    const double hours = std::floor(number / 10000), minutes = std::fmod(std::floor(number / 100), 100),
                 rest = std::fmod(number, 100);
    if (number < 0 || hours >= 24 || minutes >= 60 || rest >= 60) return {};
    seconds.push_back(hours * 3600 + minutes * 60 + rest);
  }
  return seconds;
}

/// Each minute of clock times has a jump of 40, each hour one of 4040.
void check_clock(const std::string& source, const std::vector<double>& times) {
  const std::vector<double> clock = as_clock_times(times);
  const auto minute = [](double time) { return std::floor(time / 100); };
  if (clock.empty() || minute(times.back()) == minute(times.front())) return;
  if (!(unevenness(clock) < unevenness(times) / 2)) return;
  std::size_t jump = 1, jumps = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (minute(times[i]) != minute(times[i - 1]) && ++jumps == 1) jump = i;
  const std::string text = fmt::format(
      "{}: the times look like clock times (HHMMSS, as DICOM's AcquisitionTime): frame {} is at {}, frame {} "
      "at {}, and as a clock the frames are evener",
      source, jump - 1, times[jump - 1], jump, times[jump]);
  constexpr double first_minute = 100, first_hour = 10000;
  if (times.front() >= first_hour || (times.front() >= first_minute && jumps > 1))
    refuse_data("{}; give seconds: 3600 HH + 60 MM + SS", text);
  spdlog::warn("{}; is it so? expected seconds", text);
}

/// One long gap between two frames is a missing frame or a wrong time more often than a pause.
void warn_of_gaps(const std::string& source, const std::vector<double>& times) {
  constexpr double max_ratio = 5;
  const std::vector<double> gaps = gaps_between(times);
  std::size_t longest = gaps.size(), count = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double before = i > 0 ? gaps[i - 1] : 0, after = i + 1 < gaps.size() ? gaps[i + 1] : 0;
    if (!(gaps[i] > max_ratio * std::max(before, after)) || gaps.size() == 1) continue;
    ++count;
    if (longest == gaps.size() || gaps[i] > gaps[longest]) longest = i;
  }
  if (count == 0) return;
  spdlog::warn(
      "{}: frames {} and {} are {:.4g} s apart, more than {} times as far as their neighbours{}; the input curves are "
      "interpolated there; is no frame missing, and are the times right?",
      source, longest, longest + 1, gaps[longest], max_ratio,
      count > 1 ? fmt::format(", and there are {} more such gaps", count - 1) : "");
}

/// What the times alone tell about their unit and their kind.
void check_plausible(const std::string& source, const std::vector<double>& times) {
  check_clock(source, times);
  check_units(source, times);
  warn_of_gaps(source, times);
}

nlohmann::json read_sidecar(const std::string& path) {
  nlohmann::json sidecar = parse_json(read_text_file(path), path);
  if (!sidecar.is_object()) refuse_data("{}: is not a JSON object, expected a sidecar of BIDS", path);
  return sidecar;
}

std::vector<double> repeated_times(const nlohmann::json& spacing, std::size_t frames, const std::string& name) {
  // A volume of a body takes longer, an excitation (which converters call RepetitionTime, too) is shorter.
  constexpr double min_spacing_s = 0.5;
  if (!spacing.is_number() || spacing.get<double>() < min_spacing_s)
    refuse_data(
        "{}: RepetitionTime is {}, expected at least {} s from one volume to the next; a repetition "
        "time of excitations is RepetitionTimeExcitation; add VolumeTiming, the times of the frames",
        name, dump_json(spacing), min_spacing_s);
  std::vector<double> times;
  for (std::size_t i = 0; i < frames; ++i) times.push_back(spacing.get<double>() * static_cast<double>(i));
  return times;
}

/// The start of each frame, or the time between two frames, from a BIDS sidecar.
std::vector<double> read_sidecar_times(const std::string& path, std::size_t frames, const std::string& series) {
  const nlohmann::json sidecar = read_sidecar(path);
  const std::string& name = path;
  for (const char* key : {"FrameTimesStart", "VolumeTiming"}) {
    if (!sidecar.contains(key)) continue;
    const nlohmann::json& list = sidecar.at(key);
    if (!list.is_array() || list.size() != frames ||
        !std::all_of(list.begin(), list.end(), [](const nlohmann::json& time) { return time.is_number(); }))
      refuse_data("{}: {} has {} entries, expected {} numbers, one for each frame of {}", name, key, list.size(),
                  frames, series);
    const auto times = list.get<std::vector<double>>();
    check_times(times, [&](std::size_t) { return name + ": " + key; });
    return times;
  }
  if (sidecar.contains("RepetitionTime")) return repeated_times(sidecar.at("RepetitionTime"), frames, name);
  refuse_data("{}: has none of FrameTimesStart, VolumeTiming and RepetitionTime, the times of the frames", name);
}

/// Empty for several columns without names.
std::vector<double> read_time_column(const number_table& table) {
  const auto column = find_time_column(table);
  if (!column) return table.rows == 1 ? table.values : std::vector<double>{};
  std::vector<double> times;
  for (std::size_t r = 0; r < table.rows; ++r) times.push_back(column->value(table, r));
  return times;
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
    check_plausible(o.times, times);
    return times;
  }
  const number_table table = read_number_table(o.times, header_line::allowed);
  times = read_time_column(table);
  if (times.size() != frames)
    refuse_data("{}: has {} numbers in {} rows, expected {} in one column or row, one for each frame of {}", table.name,
                table.values.size(), table.rows, frames, series);
  check_times(times, [&](std::size_t i) {
    return fmt::format("{}: line {}", table.name, table.row_line[std::min(i, table.rows - 1)]);
  });
  check_plausible(table.name, times);
  return times;
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

std::size_t count_unsteady_frames(const std::vector<double>& signal, const std::vector<std::uint8_t>& counts) {
  constexpr std::size_t max_unsteady = 5, next = 4;
  constexpr double min_part = 0.03, deviations = 4, deviation_of_median = 1.4826;
  std::vector<double> values;
  for (std::size_t i = 0; i < signal.size(); ++i)
    if (counts[i] != 0) values.push_back(signal[i]);
  std::size_t count = 0;
  for (; count < max_unsteady && count + next < values.size(); ++count) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(count + 1);
    std::vector<double> later(from, from + next);
    std::sort(later.begin(), later.end());
    const double level = later[(next - 1) / 2];  // the lower middle: the agent may arrive in the last of them
    for (double& value : later) value = std::fabs(value - level);
    const double margin = std::max(min_part * level, deviations * deviation_of_median * upper_median(later));
    if (!(level > 0 && values[count] > level + margin)) break;
  }
  return count;
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
