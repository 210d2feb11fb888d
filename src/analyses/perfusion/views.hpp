#pragma once

#include "src/show/draft.hpp"
#include "src/show/methods.hpp"

namespace voxherd::report {

void write_perfusion_chapter(result_draft& d);
void write_perfusion_methods(methods_text& m);

}  // namespace voxherd::report
