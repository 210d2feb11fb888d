#pragma once

#include <string>
#include <string_view>

namespace voxherd {

/// True where this processor has all that a level of x86-64 asks for ("x86-64-v2" to "x86-64-v4"), and for any other
/// word.
bool processor_has(std::string_view level);

/// Why kernels compiled with `-march=built_for` cannot run, and what to do; empty where they can. A build for "native"
/// or for one model of a processor cannot be asked about.
std::string why_kernels_cannot_run(std::string_view built_for, bool (*has)(std::string_view) = processor_has);

}  // namespace voxherd
