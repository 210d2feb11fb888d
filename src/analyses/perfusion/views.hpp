#pragma once

#include "src/show/draft.hpp"

namespace voxherd::report {

void write_perfusion_chapter(result_draft& d);
void write_perfusion_methods(result_draft& d);

}  // namespace voxherd::report
