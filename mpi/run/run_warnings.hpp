#pragma once

#include <nlohmann/json.hpp>

namespace voxherd {

/// From now on, notes the warnings that this process logs. Call it after the logger has been set up.
void note_warnings();
/// Forgets the warnings of an earlier run of this process.
void forget_warnings();
/// The warnings since, each once, as an array of texts; at most the first 100.
nlohmann::json noted_warnings();

}  // namespace voxherd
