#pragma once

#include <string>
#include <vector>

#include "core/command.hpp"

/// What help texts and manual pages say about options.
namespace voxherd {

struct option_group {
  std::string heading;
  std::vector<const option_spec*> options;
};

/// All options, with --help, in the order in which a text lists them.
std::vector<option_group> group_options(const command& c);

/// "--fit WORD"
std::string name_and_value(const option_spec& spec);

/// What is accepted and the default: "1 to 100; default 2".
std::string value_facts(const option_spec& spec);

/// " [text]", or "" for no text.
std::string bracketed(const std::string& text);

}  // namespace voxherd
