#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// "0,1000": b-values in s/mm2. Throws failure (usage).
std::vector<double> parse_shells(const std::string& list, const char* option);

/// The volumes whose b-value is within 100 s/mm2 of one of `shells`, for 0 up to --b0-threshold; all without shells.
/// Logs how many are left out, and a warning if high b-values remain. Throws failure (bad_data): a shell without
/// volumes, or volumes that do not determine a tensor.
std::vector<std::uint32_t> choose_volumes(const gradient_table& gradients, const std::vector<double>& shells,
                                          const dwi_request& files);

/// "b is up to 2000 s/mm2, ...", or "" up to 1500 s/mm2.
std::string high_b_text(const gradient_table& gradients);

}  // namespace voxherd
