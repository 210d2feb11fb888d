#pragma once

#include <string>

namespace voxherd {

/// A letter or digit, as in the labels of BIDS names.
bool is_bids_letter(char c);

/// The letters and digits of a text.
std::string bids_label(const std::string& text);

}  // namespace voxherd
