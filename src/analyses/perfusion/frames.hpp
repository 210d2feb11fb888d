#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// Times of the frames in s, rising, on the clock of the user's tables. Throws failure (missing_input, bad_data).
std::vector<double> read_frame_times(const perfusion_settings& o, std::size_t frames, const std::string& series);

/// 1 for each frame that is fitted: those that --skip-frames does not name. Throws failure (usage).
std::vector<std::uint8_t> counted_frames(const perfusion_settings& o, std::size_t frames);

/// Takes out the frames in which nothing was measured, and says so: every value 0, or more than half of them no
/// numbers. `rows`: of the voxels looked at, `stride` floats a voxel, the frames first.
void drop_missing_frames(std::span<const float> rows, std::size_t stride, perfusion::signal_kind signal,
                         std::vector<std::uint8_t>& counts);

/// "3, 41-47": frames that are not counted.
std::string text_of_skipped(const std::vector<std::uint8_t>& counts);

/// Values at frames that do not count become those of a line between their neighbours that do; at the ends, the
/// nearest.
void bridge_skipped(const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                    std::vector<double>& values);

/// Frames [begin, end) before a curve rises. Empty where it rises at once.
std::pair<int, int> find_baseline(const std::vector<double>& curve, const std::vector<std::uint8_t>& counts);

}  // namespace voxherd
