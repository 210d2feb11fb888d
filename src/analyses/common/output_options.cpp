#include "src/analyses/common/output_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "mpi/result/named_output.hpp"
#include "mpi/run/run_outputs.hpp"

namespace voxherd {

namespace {

/// Results, each with its own rules for an existing file; for some commands a folder.
constexpr std::array<std::string_view, 3> results{"out", "paths", "arrivals"};
/// Files written at the end of a command.
constexpr std::array<std::string_view, 4> texts{"json", "trace", "script", "report"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct named_file {
  std::string option, path;
};

struct option_files {
  std::vector<named_file> inputs, results, texts;
};

/// Every file that the command line or the configuration file names.
option_files list_files(const command& c, const given_options& given) {
  option_files files;
  for (const option_spec& spec : c.options()) {
    if (spec.type != option_type::file || !given.has(spec.name)) continue;
    std::vector<named_file>& list = contains(results, spec.name) ? files.results
                                    : contains(texts, spec.name) ? files.texts
                                                                 : files.inputs;
    for (const std::string& path : given.values.at(spec.name)) list.push_back({"--" + spec.name, path});
  }
  return files;
}

void check_not_an_input(const named_file& output, const std::vector<named_file>& inputs) {
  for (const named_file& input : inputs) {
    if (!is_same_file(output.path, input.path)) continue;
    option::refuse(
        fmt::format("{} {} is also the input {}; choose another name", output.option, output.path, input.option));
  }
}

void check_all_differ(const std::vector<named_file>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (is_same_file(outputs[i].path, outputs[j].path))
        option::refuse(fmt::format("{} and {} both name {}; choose two names", outputs[j].option, outputs[i].option,
                                   outputs[i].path));
}

/// A run that is resumed may be complete: then its files exist and are not written again. The run itself checks more.
bool may_exist(const given_options& given, const std::string& option) {
  return option == "--script" ? given.has("overwrite-script") : given.has("overwrite") || given.has("resume");
}

}  // namespace

void check_output_options(const command& c, const given_options& given) {
  const option_files files = list_files(c, given);
  for (const auto* outputs : {&files.results, &files.texts})
    for (const named_file& output : *outputs) check_not_an_input(output, files.inputs);
  check_all_differ(files.results);
  check_all_differ(files.texts);
  for (const named_file& text : files.texts) {
    if (text.path == "-") continue;  // standard output, where a command has it
    for (const named_file& result : files.results)
      check_not_a_result(text.option, text.path, result.option, follow_links(result.path));
    check_output({text.option, text.path, may_exist(given, text.option)});
  }
}

}  // namespace voxherd
