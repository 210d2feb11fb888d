#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// Times of the frames in s, increasing, on the same clock as the user's tables. Throws failure (missing_input,
/// bad_data).
std::vector<double> read_frame_times(const perfusion_settings& o, std::size_t frames, const std::string& series);

/// 1 for each frame that is fitted: those not in --skip-frames. Throws failure (usage).
std::vector<std::uint8_t> counted_frames(const perfusion_settings& o, std::size_t frames);

/// Excludes frames without a measurement, with a warning: all values are 0, or more than half are not numbers.
/// `rows`: of the examined voxels, `stride` floats per voxel, the frames first.
void drop_missing_frames(std::span<const float> rows, std::size_t stride, perfusion::signal_kind signal,
                         std::vector<std::uint8_t>& counts);

/// Number of first frames that are brighter than the next ones: a spoiled gradient echo is not in its steady state
/// before some excitations. `signal`: of tissue. Frames that are not fitted are not counted.
std::size_t count_unsteady_frames(const std::vector<double>& signal, const std::vector<std::uint8_t>& counts);

/// "3, 41-47": the frames that are not fitted.
std::string text_of_skipped(const std::vector<std::uint8_t>& counts);

/// Replaces values at frames that are not fitted by linear interpolation between their fitted neighbours; at the ends,
/// by the nearest value.
void bridge_skipped(const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                    std::vector<double>& values);

/// Frames [begin, end) before a curve rises. Empty if it rises immediately.
std::pair<int, int> find_baseline(const std::vector<double>& curve, const std::vector<std::uint8_t>& counts);

}  // namespace voxherd
