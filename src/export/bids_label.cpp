#include "src/export/bids_label.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace voxherd {

bool is_bids_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 128 && std::isalnum(byte) != 0;
}

std::string bids_label(const std::string& text) {
  std::string label;
  std::copy_if(text.begin(), text.end(), std::back_inserter(label), is_bids_letter);
  return label;
}

}  // namespace voxherd
