#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/text.hpp"

namespace voxherd {

enum class progress_style { silent, bar, lines };

/// bar: for a terminal that can redraw a line; lines: otherwise; silent: no output.
progress_style choose_progress_style(bool quiet, bool is_root);

/// "  41 %  [########            ]  12345/30000 voxels  1234/s  0:13 left"; `item`: what is counted, in the singular.
std::string progress_text(std::uint64_t done, std::uint64_t total, const std::string& item, double items_per_second,
                          bool with_bar);

/// Prints the progress of all ranks on rank 0's standard error.
class progress {
 public:
  /// `already_done` items count as done, but not for the rate. `label` is printed before each line.
  progress(progress_style style, std::uint64_t total, std::uint64_t already_done, const std::string& label,
           const std::string& item);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void update(std::uint64_t done_now);

 private:
  void show(std::uint64_t done_now);

  progress_style style_;
  std::uint64_t total_, already_done_, latest_ = 0;
  std::chrono::steady_clock::time_point start_, next_;
  std::string label_, item_;
  bool line_open_ = false;
};

}  // namespace voxherd
