#include "src/tools/bids/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/failure.hpp"

namespace voxherd {

namespace {

using word_list = std::vector<std::string>;

void append(word_list& words, const word_list& more) { words.insert(words.end(), more.begin(), more.end()); }

word_list series_words(const bids_series& s) {
  word_list words{"--dwi", s.dwi, "--bvals", s.bval, "--bvecs", s.bvec};
  if (!s.mask.empty()) append(words, {"--mask", s.mask});
  if (!s.grad_dev.empty()) append(words, {"--grad-dev", s.grad_dev});
  return words;
}

/// The regions, with their names unless the user's options have some.
word_list region_words(const bids_series& s, const std::string& analysis, const word_list& options) {
  if (s.parcellation.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: {} needs regions: {}", s.name, analysis, s.parcellation_problem));
  word_list words{analysis == "track" ? "--network" : "--connectome", s.parcellation};
  const bool has_names = std::any_of(options.begin(), options.end(),
                                     [](const std::string& word) { return word.starts_with("--region-names"); });
  if (!s.region_names.empty() && !has_names) append(words, {"--region-names", s.region_names});
  return words;
}

word_list analysis_words(const bids_request& request, const bids_series& s, const std::string& analysis) {
  word_list words{analysis};
  if (analysis == "tensor") {
    append(words, series_words(s));
    append(words, request.tensor_options);
  } else if (analysis == "ballstick") {
    append(words, series_words(s));
    append(words, request.ballstick_options);
  } else if (analysis == "track") {
    append(words, {"--samples", result_path(request, s, "ballstick")});
    append(words, region_words(s, analysis, request.track_options));
    append(words, request.track_options);
  } else if (analysis == "perfusion") {
    append(words, s.perfusion_words);
    append(words, request.perfusion_options);
  } else {
    append(words, series_words(s));
    append(words, region_words(s, analysis, request.connect_options));
    append(words, request.connect_options);
  }
  return words;
}

}  // namespace

bool computes(const bids_request& request, const std::string& analysis) {
  return std::find(request.analyses.begin(), request.analyses.end(), analysis) != request.analyses.end();
}

bool applies(const bids_series& series, const std::string& analysis) {
  return (analysis == "perfusion") == (series.datatype == "perf");
}

word_list perfusion_words(const bids_request& request) {
  word_list words = request.perfusion_options;
  append(words, request.more);
  return words;
}

std::string result_path(const bids_request& request, const bids_series& series, const std::string& analysis) {
  return (std::filesystem::path(request.work_dir) / series.folder / fmt::format("{}_{}.h5", series.name, analysis))
      .string();
}

std::vector<bids_step> plan_steps(const bids_request& request, const bids_series& series) {
  if (!series.problem.empty())
    throw failure(exit_status::missing_input, fmt::format("{}: {}", series.name, series.problem));
  std::vector<bids_step> steps;
  for (const std::string& analysis : request.analyses) {
    if (!applies(series, analysis)) continue;
    cohort_subject run;
    run.name = series.name;
    run.out = result_path(request, series, analysis);
    run.words = analysis_words(request, series, analysis);
    const bool has_fibres = request.tracts && (analysis == "track" || analysis == "connect");
    const std::string fibres = has_fibres ? result_path(request, series, analysis + "_fibres") : "";
    if (has_fibres) append(run.words, {analysis == "track" ? "--streamlines" : "--paths", fibres});
    append(run.words, request.more);
    append(run.words, {"--out", run.out, "--resume"});
    steps.push_back({analysis, std::move(run), fibres});
  }
  return steps;
}

std::vector<std::string> common_words(const bids_request& request, int ranks_per_node) {
  word_list words;
  if (request.threads_per_rank) {
    append(words, {"--threads", std::to_string(*request.threads_per_rank)});
  } else if (request.threads_of_all) {
    append(words, {"--threads", std::to_string(std::max(1, *request.threads_of_all / ranks_per_node))});
  }
  if (request.memory_mb) append(words, {"--host-memory", fmt::format("{}", *request.memory_mb / 1000)});
  return words;
}

}  // namespace voxherd
