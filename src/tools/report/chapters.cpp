#include "src/tools/report/chapters.hpp"

#include <fmt/core.h>

#include "src/tools/report/pictures.hpp"

namespace voxherd::report {

namespace {

const chapter* const chapters[] = {&tensor_chapter, &ballstick_chapter, &perfusion_chapter, &connect_chapter,
                                   &paths_chapter,  &geodesic_chapter,  &track_chapter};

/// All maps and distributions of an analysis without a chapter of its own.
void write_any(result_draft& d) {
  constexpr int max_figures = 12;
  int figures = 0;
  d.add_section("Maps");
  for (const output_spec& o : d.result.outputs())
    if (o.layout == output_layout::volume && o.shape.empty() && o.type != element_type::uint8 &&
        figures++ < max_figures)
      add_map(d, o.name);
  d.add_section("Distributions");
  figures = 0;
  for (const output_spec& o : d.result.outputs())
    if (o.shape.empty() && o.layout != output_layout::points && o.type != element_type::uint8 &&
        figures++ < max_figures)
      add_histogram(d, o.name);
}

void write_any_methods(result_draft& d) {
  d.out.methods =
      fmt::format("The maps were computed with voxherd {} {}.", d.result.analysis_name(), d.result.version());
}

const chapter any_chapter{"", write_any, write_any_methods};

}  // namespace

const chapter& find_chapter(const std::string& analysis) {
  for (const chapter* c : chapters)
    if (analysis == c->analysis) return *c;
  return any_chapter;
}

}  // namespace voxherd::report
