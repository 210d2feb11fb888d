#pragma once

#include <optional>
#include <string>

#include "src/tools/cohort/cost.hpp"

namespace voxherd {

/// OUT.cost.json: what a subject cost in all runs of `cohort --run-all`, which shares GPUs among subjects and measures
/// their energy. It stays when the result is complete.
std::string cost_path(const std::string& out);

/// Empty if the record is missing or cannot be read.
std::optional<cost> read_cost_record(const std::string& out);

/// Never throws: a record that cannot be written is only a warning.
void write_cost_record(const std::string& out, const cost& spent);

}  // namespace voxherd
