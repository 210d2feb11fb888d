#include "src/tools/bids/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/shell_words.hpp"

namespace voxherd {

namespace {

constexpr const char* analyses[] = {"tensor", "ballstick", "track", "connect", "perfusion"};
constexpr const char* analysis_list = "tensor, ballstick, track, connect, perfusion";

std::vector<std::string> parse_words(const std::string& text, const char*) { return split_words(text); }

/// The analyses in the order in which they need each other's results.
std::vector<std::string> parse_analyses(const std::string& text, const char* name) {
  std::vector<std::string> asked;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::find(std::begin(analyses), std::end(analyses), word) == std::end(analyses))
      option::refuse(fmt::format("--{} {}: `{}` is not one of {}", name, text, word, analysis_list));
    asked.push_back(word);
  }
  const auto has = [&](const char* word) { return std::find(asked.begin(), asked.end(), word) != asked.end(); };
  std::vector<std::string> ordered;
  for (const char* analysis : analyses)
    if (has(analysis) || (analysis == std::string("ballstick") && has("track"))) ordered.emplace_back(analysis);
  return ordered;
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

void check_request(const bids_request& r, const given_options& given) {
  if (r.shows_version) return;
  for (const char* name : {"bids-dir", "out-dir", "level"})
    if (!given.has(name))
      option::refuse(
          fmt::format("bids: {} is missing; usage: voxherd bids BIDS_DIR OUT_DIR participant|group "
                      "--analysis LIST",
                      name));
  if (r.analyses.empty())
    option::refuse(fmt::format("bids: --analysis is missing; expected a list of {}", analysis_list));
  if (is_same_folder(r.bids_dir, r.out_dir))
    option::refuse(fmt::format("bids: the output folder {} is the data set itself; choose another one", r.out_dir));
}

}  // namespace

const option_table<bids_request>& bids_options() {
  using T = bids_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"bids-dir", &T::bids_dir, text_kind::file,
       {.text = "data set: raw BIDS, preprocessed BIDS derivatives, or folders of the HCP", .value = "DIR"}},
      {"participant-label", &T::subjects, text_kind::any,
       {.text = "subjects, with or without sub-; without it all", .value = "LABEL", .many = true}},
      {"session-id", &T::sessions, text_kind::any,
       {.text = "sessions, with or without ses-; without it all", .value = "LABEL", .many = true}},
      {"series", &T::series, text_kind::any,
       {.text = "only this series, by the name that its derivatives have (sub-01_ses-1_run-1)", .value = "NAME"}},
      {"bids-filter-file", &T::filter_file, text_kind::file,
       {.text = "which files are used, by entities, for dwi, mask, dseg; dynamic, arterial, portal, VFA, T1map (JSON)"}},
      {"derivatives", &T::derivatives, text_kind::file,
       {.text = "further data set with masks and parcellations (-d)", .value = "DIR"}},
      {"skip-bids-validation", &T::skip_validation, {"accept a data set without dataset_description.json"}}})
    .group("Analysis", {
      {"level", &T::level, {{"participant", bids_level::participant}, {"group", bids_level::group}},
       {.text = "compute and write derivatives of the subjects, or write a table over them", .standard = "none"}},
      {"analysis", &T::analyses, parse_analyses,
       {.text = std::string("what to compute, separated by commas: ") + analysis_list, .value = "LIST"}},
      {"tensor-options", &T::tensor_options, parse_words, {.text = "options added to voxherd tensor", .value = "WORDS"}},
      {"ballstick-options", &T::ballstick_options, parse_words,
       {.text = "options added to voxherd ballstick", .value = "WORDS"}},
      {"track-options", &T::track_options, parse_words, {.text = "options added to voxherd track", .value = "WORDS"}},
      {"connect-options", &T::connect_options, parse_words,
       {.text = "options added to voxherd connect", .value = "WORDS"}},
      {"perfusion-options", &T::perfusion_options, parse_words,
       {.text = "options added to voxherd perfusion", .value = "WORDS"}},
      {"more", &T::more, parse_words, {.text = "options added to all of them", .value = "WORDS"}}})
    .group("Output", {
      {"out-dir", &T::out_dir, text_kind::file, {.text = "data set of derivatives to write", .value = "DIR"}},
      {"tracts", &T::tracts, {"also write the streamlines of track and the paths of connect (TRX)"}},
      {"half-positions", &T::half_positions, {"tracts in 16 bits, to 1/32 mm up to 128 mm from the origin"}},
      {"work-dir", &T::work_dir, text_kind::file,
       {.text = "folder of the results, which are kept and continued (-w)", .value = "DIR"}}})
    .group("Running", {
      {"nprocs", &T::threads_of_all, range{1, 4096}, {.text = "CPU threads of all ranks of a node", .standard = "all cores"}},
      {"omp-nthreads", &T::threads_per_rank, range{1, 4096}, {.text = "CPU threads of a rank, instead of --nprocs"}},
      {"mem", &T::memory_mb, range{1, 1e9},
       {.text = "memory of a node for compressed images", .unit = "MB", .standard = "2500"}},
      {"per-gpu", &T::per_gpu, range{1, 64}, {"series at a time on each GPU, in one process without mpirun"}},
      {"per-node", &T::per_node, range{1, 4096},
       {.text = "series at a time without GPUs, in one process without mpirun", .standard = "one per 8 cores"}},
      {"stop-on-first-crash", &T::stop_on_first_crash, {"stop at the first series that fails"}},
      {"notrack", &T::no_tracking, {"accepted: nothing is ever sent anywhere"}},
      {"version", &T::shows_version, {"print the version"}}})
    .check(check_request);
  // clang-format on
  return table;
}

std::vector<std::string> from_bids_app(const std::vector<std::string>& words) {
  std::vector<std::string> own;
  for (std::string word : words) {
    if (word == "-w") word = "--work-dir";
    if (word == "-d") word = "--derivatives";
    if (word.starts_with("--")) {
      // A blank ends the name in the value of, for example, --track-options.
      const std::size_t end = std::min(word.find_first_of("= "), word.size());
      std::replace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    }
    own.push_back(std::move(word));
  }
  return own;
}

}  // namespace voxherd
