#include "mpi/run/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/text.hpp"

namespace voxherd {

namespace {

constexpr std::chrono::milliseconds bar_period{200};
constexpr std::chrono::seconds line_period{10};

}  // namespace

progress_style choose_progress_style(bool quiet, bool is_root) {
  if (quiet || !is_root) return progress_style::silent;
  const char* term = std::getenv("TERM");
  const bool redraws = isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
  return redraws ? progress_style::bar : progress_style::lines;
}

std::string progress_text(std::uint64_t done, std::uint64_t total, const std::string& item, double items_per_second,
                          bool with_bar) {
  constexpr std::uint64_t width = 30;
  std::string text = fmt::format("{:3} % ", total == 0 ? 100 : 100 * done / total);
  if (with_bar) {
    const std::uint64_t full = total == 0 ? width : width * done / total;
    text += fmt::format(" [{:<30}] ", std::string(full, '#'));
  }
  text += fmt::format(" {}/{}", done, counted(total, item));
  if (items_per_second > 0) {
    text += items_per_second < 0.1 ? fmt::format("  {:.1f}/h", items_per_second * 3600)
                                   : fmt::format("  {:.{}f}/s", items_per_second, items_per_second < 10 ? 2 : 0);
    text += fmt::format("  {} left", clock_time(static_cast<double>(total - done) / items_per_second));
  }
  return text;
}

progress::progress(progress_style style, std::uint64_t total, std::uint64_t already_done, const std::string& label,
                   const std::string& item)
    : style_(style),
      total_(total),
      already_done_(already_done),
      start_(std::chrono::steady_clock::now()),
      label_(label),
      item_(item) {
  next_ = start_ + (style == progress_style::bar ? bar_period : std::chrono::milliseconds(line_period));
}

progress::~progress() {
  if (!line_open_) return;
  show(latest_);
  print_error_output("\n");
}

void progress::update(std::uint64_t done_now) {
  latest_ = done_now;
  const auto now = std::chrono::steady_clock::now();
  if (style_ == progress_style::silent || now < next_) return;
  next_ = now + (style_ == progress_style::bar ? bar_period : std::chrono::milliseconds(line_period));
  show(done_now);
}

void progress::show(std::uint64_t done_now) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const bool bar = style_ == progress_style::bar;
  const std::string text = label_ + " " +
                           progress_text(already_done_ + done_now, total_, item_,
                                         static_cast<double>(done_now) / std::max(seconds, 1e-3), bar);
  // Erase to the end of the line, so that a shorter text leaves nothing of a longer one.
  if (bar) {
    print_error_output("\r{}\033[K", text);
  } else {
    print_error_output("{}\n", text);
  }
  std::fflush(stderr);
  line_open_ = bar;
}

}  // namespace voxherd
