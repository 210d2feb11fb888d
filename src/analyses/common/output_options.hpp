#pragma once

#include <vector>

#include "core/command.hpp"
#include "mpi/result/named_output.hpp"

namespace voxherd {

/// Throws failure if a file that --json, --trace or --script names cannot be written, exists and is not to be
/// overwritten, is an input of the command, or is another of its outputs; and if --out is an input. Reads no input, so
/// that it finds an error within the first second. Changes no file. For rank 0.
void check_output_options(const command& c, const given_options& given);

/// Every file that the command reads or writes, for another command whose output must not replace one. Throws failure
/// (usage) if two results have one name.
std::vector<kept_file> list_kept_files(const command& c, const given_options& given);

}  // namespace voxherd
