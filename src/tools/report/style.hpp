#pragma once

namespace voxherd::report {

/// The style sheet of every page: light and dark, on paper, and from a width of 320 pixels.
extern const char* const style_sheet;

}  // namespace voxherd::report
