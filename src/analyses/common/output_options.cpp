#include "src/analyses/common/output_options.hpp"

#include <algorithm>
#include <array>

namespace voxherd {

namespace {

/// Results, each with its own rules for an existing file; for some commands a folder.
constexpr std::array<std::string_view, 6> results{"out", "paths", "arrivals", "matrix1", "matrix2", "matrix3"};
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

std::vector<kept_file> kept_inputs(const option_files& files) {
  std::vector<kept_file> kept;
  for (const named_file& input : files.inputs) kept.push_back({input.path, "also the input " + input.option});
  return kept;
}

std::vector<kept_file> list_files_of(const named_file& result) {
  return list_result_files(result.option, follow_links(result.path));
}

std::vector<kept_file> kept_results(const option_files& files) {
  std::vector<kept_file> kept;
  for (const named_file& result : files.results)
    for (kept_file& file : list_files_of(result)) kept.push_back(std::move(file));
  return kept;
}

/// Throws failure (usage) if a result has the name of another one or of a file that is kept next to that one.
void check_results_differ(const std::vector<named_file>& named) {
  for (std::size_t i = 0; i < named.size(); ++i)
    for (std::size_t j = 0; j < named.size(); ++j)
      if (i != j) check_not_kept({named[i].option, named[i].path}, list_files_of(named[j]));
}

void check_all_differ(const std::vector<named_file>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (is_same_file(outputs[i].path, outputs[j].path))
        refuse_usage("{} and {} both name {}; choose two names", outputs[j].option, outputs[i].option, outputs[i].path);
}

/// A run that is resumed may be complete: then its files exist and are not written again. The run itself checks more.
bool may_exist(const given_options& given, const std::string& option) {
  return option == "--script" ? given.has("overwrite-script") : given.has("overwrite") || given.has("resume");
}

}  // namespace

void check_output_options(const command& c, const given_options& given) {
  const option_files files = list_files(c, given);
  const std::vector<kept_file> inputs = kept_inputs(files), own_results = kept_results(files);
  for (const auto* outputs : {&files.results, &files.texts})
    for (const named_file& output : *outputs) check_not_kept({output.option, output.path}, inputs);
  check_results_differ(files.results);
  check_all_differ(files.texts);
  for (const named_file& text : files.texts) {
    if (text.path == "-") continue;  // standard output, where a command has it
    check_output({text.option, text.path, may_exist(given, text.option)}, own_results);
  }
}

std::vector<kept_file> list_kept_files(const command& c, const given_options& given) {
  const option_files files = list_files(c, given);
  check_results_differ(files.results);
  std::vector<kept_file> kept = kept_inputs(files), own_results = kept_results(files);
  kept.insert(kept.end(), own_results.begin(), own_results.end());
  for (const named_file& text : files.texts) kept.push_back({text.path, "also the file of " + text.option});
  return kept;
}

}  // namespace voxherd
