#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// First difference of two JSON values as "key.key: A in the file, B now"; empty if equal.
std::optional<std::string> first_difference(const nlohmann::json& stored, const nlohmann::json& now,
                                            const std::string& where);

/// The first difference of analysis, options or inputs by content, as "fibres: 1 in the file, 2 now" or "inputs.mask:
/// /a/mask.nii in the file, /b/mask.nii now"; empty if there is none. Of a result of another version of the program,
/// only the options that both have are compared.
std::optional<std::string> find_difference(const result_reader& stored, const result_layout& wanted);

/// Throws failure (usage) with the first difference that makes the rest of the file belong to another study:
/// version, analysis, configuration, input fingerprints; check_same_study also image, items, outputs, points.
void check_same_options(const result_reader& stored, const result_layout& wanted);
void check_same_study(const result_reader& stored, const result_layout& wanted);

/// Which batches of an unfinished file are done and have the checksum they were written with. Each rank reads its
/// share; the answer is the same on all. Collective.
std::vector<bool> verified_batches(const session& s, const result_reader& reader);

}  // namespace voxherd
