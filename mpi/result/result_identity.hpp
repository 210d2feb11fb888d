#pragma once

#include <string>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// What tells a result from those of other commands, inputs or programs, from what the file stores of itself: program,
/// options, fingerprints of the inputs, items, constants and the checksums of all batches. The same for the same bytes,
/// wherever and whenever they were computed; no values of batches are read.
std::string result_identity(const result_reader& result);

/// What tells a result's file from other files, also from a second run with the same bytes. Reads only its first bytes;
/// "" for a file that is no result.
std::string file_identity_of_result(const std::string& path);

}  // namespace voxherd
