#pragma once

#include <string>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// What the page of one analysis shows: its pictures and charts and its warnings; its methods with references.
struct chapter {
  const char* analysis;
  void (*write)(result_draft& d);
  void (*write_methods)(result_draft& d);
};

extern const chapter tensor_chapter, ballstick_chapter, perfusion_chapter, connect_chapter, paths_chapter,
    geodesic_chapter, track_chapter;

/// The chapter of a result's analysis; for others, one that shows all of its maps.
const chapter& find_chapter(const std::string& analysis);

}  // namespace voxherd::report
