#include "src/batch/bids/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "core/text.hpp"
#include "mpi/result/named_output.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

/// Those that `voxherd bids` can compute, in an order in which they have each other's results.
std::vector<const analysis_views*> list_analyses() {
  std::vector<const analysis_views*> list;
  for (const analysis_views* v : all_analysis_views())
    if (v->bids.run.input != bids_input::none) list.push_back(v);
  return list;
}

/// "tensor, ballstick, track".
std::string analysis_list() {
  std::string text;
  for (const analysis_views* v : list_analyses()) text += (text.empty() ? "" : ", ") + std::string(v->analysis);
  return text;
}

/// The analyses and those that they need, in their order.
std::vector<std::string> parse_analyses(const std::string& text, const char* name) {
  std::set<std::string> asked;
  const std::vector<const analysis_views*> known = list_analyses();
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto* v) { return word == v->analysis; });
    if (found == known.end()) refuse_usage("--{} {}: `{}` is not one of {}", name, text, word, analysis_list());
    asked.insert(word);
    asked.insert((*found)->bids.run.needs);
  }
  std::vector<std::string> ordered;
  for (const analysis_views* v : known)
    if (asked.contains(v->analysis)) ordered.emplace_back(v->analysis);
  return ordered;
}

/// Refuses words that only print.
void check_computes(const std::string& option, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word == "-h" || word == "--version" || word.starts_with("--help"))
      refuse_usage("--{}: {} computes nothing; see voxherd ANALYSIS --help", option, word);
}

void check_request(const bids_request& r, const given_options&) {
  if (is_same_file(r.bids_dir, r.out_dir))
    refuse_usage("bids: the output folder {} is the data set itself; choose another one", r.out_dir);
  check_computes("more", r.more);
  std::size_t number = 0;
  for (const analysis_views* v : list_analyses())
    check_computes(fmt::format("{}-options", v->analysis), r.*word_members.at(number++));
}

/// --NAME-options of each analysis.
option_table<bids_request> options_of_analyses() {
  option_table<bids_request> table;
  std::size_t number = 0;
  for (const analysis_views* v : list_analyses()) {
    const std::string name = fmt::format("{}-options", v->analysis);
    const std::string text = fmt::format("options added to voxherd {}", v->analysis);
    std::vector<std::string> bids_request::*const words = word_members.at(number++);
    std::move(table).group(
        "Analysis", {{name.c_str(), words, {split_as_words, join_words}, {.text = text.c_str(), .value = "WORDS"}}});
  }
  return table;
}

}  // namespace

const option_table<bids_request>& bids_options() {
  using T = bids_request;
  const std::string memory_text = fmt::format("{:g}", 1000 * run_request().host_memory_gb);
  const std::string analysis_text = fmt::format("what to compute, separated by commas: {}", analysis_list());
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"bids-dir", &T::bids_dir, text_kind::file,
       {.text = "data set: raw BIDS, preprocessed BIDS derivatives, or folders of the HCP or UK Biobank", .value = "BIDS_DIR", .required = true, .place = 1}},
      {"participant-label", &T::subjects, text_kind::any,
       {.text = "subjects, with or without sub-; without it all", .value = "LABEL", .many = true}},
      {"session-id", &T::sessions, text_kind::any,
       {.text = "sessions, with or without ses-; without it all", .value = "LABEL", .many = true}},
      {"series", &T::series, text_kind::any,
       {.text = "only this series, by the name that its derivatives have (sub-01_ses-1_run-1), also with their datatype (sub-01_dwi)", .value = "NAME"}},
      {"bids-filter-file", &T::filter_file, text_kind::file,
       {.text = "filter of files by entities (JSON), for dwi, mask, dseg; dynamic, arterial, portal, VFA, T1map"}},
      {"derivatives", &T::derivatives, text_kind::file,
       {.text = "further data set with masks and parcellations (-d)", .value = "DIR"}},
      {"skip-bids-validation", &T::skip_validation, {"accept a data set without dataset_description.json"}}})
    .group("Analysis", {
      {"level", &T::level, {{"participant", bids_level::participant}, {"group", bids_level::group}},
       {.text = "compute and write derivatives of the subjects, or write a table over them", .value = "LEVEL",
        .standard = "none", .required = true, .place = 3}},
      {"analysis", &T::analyses, parse_analyses,
       {.text = analysis_text.c_str(), .value = "LIST", .required = true}}})
    .append(options_of_analyses())
    .group("Analysis", {
      {"more", &T::more, {split_as_words, join_words}, {.text = "options added to all of them", .value = "WORDS"}}})
    .group("Output", {
      {"out-dir", &T::out_dir, text_kind::file, {.text = "data set of derivatives to write", .value = "OUT_DIR",
        .required = true, .place = 2}},
      {"paths", &T::paths, {"also write the streamlines of track and the paths of connect (TRX)"}},
      {"half-positions", &T::half_positions, {"points of the paths in 16 bits, to 1/32 mm up to 128 mm from the origin"}},
      {"work-dir", &T::work_dir, text_kind::file,
       {.text = "folder of the results, which are kept and continued (-w)", .value = "DIR"}}})
    .group("Running", {
      {"nprocs", &T::threads_of_all, range{1, 4096}, {.text = "CPU threads of all ranks of a node", .standard = "all cores"}},
      {"omp-nthreads", &T::threads_per_rank, range{1, 4096}, {.text = "CPU threads of a rank, instead of --nprocs"}},
      {"mem", &T::memory_mb, range{1, 1e9},
       {.text = "memory of a node for compressed images", .unit = "MB", .standard = memory_text.c_str()}},
      {"per-gpu", &T::per_gpu, range{1, 64}, {"series at a time on each GPU, in one process without mpirun"}},
      {"per-node", &T::per_node, range{1, 4096},
       {.text = "series at a time without GPUs, in one process without mpirun", .standard = "one per 8 cores"}},
      {"stop-on-first-crash", &T::stop_on_first_crash, {"stop at the first series that fails"}},
      {"notrack", &T::no_tracking, {"accepted: nothing is ever sent anywhere"}}})
    .check(check_request);
  // clang-format on
  return table;
}

const std::vector<std::string>& options_of(const bids_request& request, const std::string& analysis) {
  const auto known = list_analyses();
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto* v) { return analysis == v->analysis; });
  return request.*word_members.at(static_cast<std::size_t>(found - known.begin()));
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
