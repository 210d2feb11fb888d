#pragma once

#include <span>
#include <string_view>

namespace voxherd::view {

/// A file of the page, as it is served.
struct page_file {
  std::string_view path;  ///< "/view.js"
  std::string_view type;
  std::string_view gzip;  ///< its bytes, compressed
};

/// Empty if the program was built without the page.
std::span<const page_file> page_files();
/// Why it was.
std::string_view why_no_page();

}  // namespace voxherd::view
