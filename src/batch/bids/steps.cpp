#include "src/batch/bids/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/failure.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

using word_list = std::vector<std::string>;

void append(word_list& words, const word_list& more) { words.insert(words.end(), more.begin(), more.end()); }

dwi_request series_files(const bids_series& s) {
  dwi_request files{s.dwi, s.bval, s.bvec, s.mask, s.grad_dev};
  if (s.frame != direction_frame::fsl) files.frame = s.frame;
  return files;
}

/// The inputs of an analysis as its options.
word_list input_words(const bids_request& request, const bids_series& s, const std::string& analysis) {
  const bids_run& how = find_views(analysis).bids.run;
  if (how.input == bids_input::dynamic) return s.dynamic_words;
  bids_inputs inputs;
  inputs.series = series_files(s);
  if (*how.needs != 0) inputs.result = result_path(request, s, how.needs);
  if (how.has_regions) {
    if (s.parcellation.empty()) refuse_data("{}: {} needs regions: {}", s.name, analysis, s.parcellation_problem);
    inputs.parcellation = s.parcellation;
    inputs.region_names = s.region_names;
  }
  const word_list given = user_words(request, analysis);
  const auto is_given = [&](const std::string& name) {
    return std::any_of(given.begin(), given.end(),
                       [&](const std::string& word) { return word.substr(0, word.find('=')) == "--" + name; });
  };
  return without_options(how.words != nullptr ? how.words(inputs) : dwi_options().words(inputs.series), is_given);
}

/// The option that makes an analysis write its streamlines or paths.
word_list path_words(const std::string& analysis, const std::string& file) {
  bids_inputs only_paths;
  only_paths.paths = file;
  return find_views(analysis).bids.run.words(only_paths);
}

}  // namespace

bool is_dynamic(const std::string& analysis) { return find_views(analysis).bids.run.input == bids_input::dynamic; }

bool applies(const bids_series& series, const std::string& analysis) {
  return is_dynamic(analysis) == (series.datatype == "perf");
}

word_list without_options(const word_list& words, const std::function<bool(const std::string&)>& is_left_out) {
  word_list kept;
  bool keeps = true;
  for (const std::string& word : words) {
    if (word.starts_with("--")) keeps = !is_left_out(word.substr(2, word.find('=') - 2));
    if (keeps) kept.push_back(word);
  }
  return kept;
}

word_list user_words(const bids_request& request, const std::string& analysis) {
  word_list words = options_of(request, analysis);
  append(words, request.more);
  return words;
}

std::string result_path(const bids_request& request, const bids_series& series, const std::string& analysis) {
  return (std::filesystem::path(request.work_dir) / series.folder / fmt::format("{}_{}.h5", series.name, analysis))
      .string();
}

std::vector<bids_step> plan_steps(const bids_request& request, const bids_series& series) {
  if (!series.problem.empty()) refuse_missing("{}: {}", series.name, series.problem);
  std::vector<bids_step> steps;
  for (const std::string& analysis : request.analyses) {
    if (!applies(series, analysis)) continue;
    cohort_subject run;
    run.name = series.name;
    run.out = result_path(request, series, analysis);
    run.words = {analysis};
    append(run.words, input_words(request, series, analysis));
    append(run.words, options_of(request, analysis));
    const bool has_fibres = request.paths && find_views(analysis).bids.run.has_paths;
    const std::string fibres = has_fibres ? result_path(request, series, analysis + "_paths") : "";
    if (has_fibres) append(run.words, path_words(analysis, fibres));
    append(run.words, request.more);
    run_request shared;
    shared.out = run.out;
    shared.resume = true;
    append(run.words, run_options().words(shared));
    steps.push_back({analysis, std::move(run), fibres});
  }
  return steps;
}

std::vector<std::string> common_words(const bids_request& request, int ranks_per_node) {
  run_request shared;
  if (request.threads_per_rank) {
    shared.threads = *request.threads_per_rank;
  } else if (request.threads_of_all) {
    shared.threads = std::max(1, *request.threads_of_all / ranks_per_node);
  }
  if (request.memory_mb) shared.host_memory_gb = *request.memory_mb / 1000;
  return run_options().words(shared);
}

}  // namespace voxherd
