#pragma once

#include <boost/program_options.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/failure.hpp"

namespace voxherd {

namespace po = boost::program_options;

class session;
struct run_listener;

/// What a command sees of its command line: values from the line, then from --config, then defaults.
struct arguments {
  po::variables_map values;
  std::string command_line;  ///< as typed, for provenance
  /// Where a command runs this one: what it wants to hear of the run. Null for none.
  const run_listener* listener = nullptr;

  bool has(const char* name) const { return values.count(name) != 0 && !values[name].defaulted(); }
  template <class T>
  const T& get(const char* name) const {
    return values[name].as<T>();
  }
};

/// One subcommand: one file under src/commands, two functions: what the user may say, and what happens.
struct command {
  const char* name;
  const char* summary;  ///< one line for `voxherd --help`
  const char* usage;    ///< after the command's name, e.g. "--dwi FILE --bvals FILE --bvecs FILE --out FILE"
  const char*
      positional;  ///< comma-separated options that take plain words, e.g. "result" or "first,second"; "" for none
  void (*options)(po::options_description&);
  exit_status (*run)(session&, const arguments&);
  /// Another program's words put into ours, for a command that takes its place; null where words are ours already.
  std::vector<std::string> (*translate)(const std::vector<std::string>&) = nullptr;
};

/// All commands, in the order of the help text: generated from the CMake list.
std::span<const command* const> all_commands();

}  // namespace voxherd
