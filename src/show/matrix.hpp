#pragma once

#include <string>
#include <vector>

#include "src/show/draft.hpp"

namespace voxherd::report {

enum class best { smallest, largest };
/// Whether a large matrix has the names of its regions beside it; a small one always has.
enum class names_shown { yes, no };

/// Adds a matrix of the result's connectome as a picture with the names of its regions, and its best pairs as a table;
/// nothing if there is no such matrix. Values that are not finite, and 0 where the largest is best, mean no connection.
void add_matrix(result_draft& d, const std::string& name, best which, names_shown shown = names_shown::no);

}  // namespace voxherd::report
