#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "core/command.hpp"
#include "core/json_text.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "src/batch/cohort/cohort_output.hpp"
#include "src/batch/cohort/manifest.hpp"
#include "src/batch/cohort/run_all.hpp"
#include "src/batch/cohort/run_subject.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

struct cohort_request {
  std::string manifest, words_template, json, page;
  std::optional<std::size_t> task;
  std::size_t per_gpu = cohort_run().per_gpu, per_node = cohort_run().per_node;
  std::vector<std::string> more;
  bool runs_all = false, array = false, overwrite = false;
};

const option_table<cohort_request>& cohort_options() {
  using T = cohort_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"manifest", &T::manifest, text_kind::file, {.text = "table of subjects, with cells separated by tabs", .value = "MANIFEST", .required = true, .place = 1}},
      {"template", &T::words_template, text_kind::any,
       {.text = "command line of every subject; {COLUMN} is replaced by the cell of the subject's line",
        .value = "WORDS"}}})
    .group("Running", {
      {"run", &T::task, at_least(1), {"compute subject N, counted from 1, on these ranks"}},
      {"run-all", &T::runs_all, {"compute all subjects that are to be submitted, several at a time; one process per node"}},
      {"per-gpu", &T::per_gpu, range{1, 64},
       {.text = "subjects at a time on each GPU", .needs = "run-all"}},
      {"per-node", &T::per_node, range{1, 4096},
       {.text = "subjects at a time on a node without GPUs", .standard = "one per 8 cores", .needs = "run-all"}},
      {"more", &T::more, {split_as_words, join_words}, {.text = "options added to the subject's command", .value = "WORDS"}}})
    .group("Output", {
      {"array", &T::array, {"print only the tasks to submit, in the form of sbatch --array"}},
      {"json", &T::json, text_kind::file, {"write the table to FILE as JSON; - is standard output"}},
      {"report", &T::page, text_kind::file,
       {"write a page over all complete subjects, outliers first, to FILE (HTML), and its numbers to the same name with .json"}},
      {"overwrite", &T::overwrite, {"replace the files of --json and --report if they exist"}}})
    .at_most_one_of({"run", "run-all"})
    .check([](const T& r, const given_options& given) {
      if (r.runs_all)
        for (const char* name : {"array", "report", "json"}) option::refuse_given(given, name, "with --run-all");
      if (!r.task) return;
      for (const char* name : {"array", "report"}) option::refuse_given(given, name, "with --run");
      option::refuse_given(given, "json", "with --run; --more '--json FILE' writes the times of the subject");
    });
  // clang-format on
  return table;
}

std::string read_text(const session& s, const std::string& path) {
  return s.from_root([&] { return read_text_file(path, "a text file: a table of subjects"); });
}

/// A subject whose command line is wrong has failed before it started.
subject_status checked_status(const cohort_subject& subject, const std::vector<std::string>& more) {
  subject_status status = find_status(subject, more);
  if (status.state == subject_state::complete || status.state == subject_state::running) return status;
  try {
    (void)prepare_subject(subject, more);
  } catch (const failure& f) {
    status.state = subject_state::failed;
    status.detail = f.what();
    status.exit_status = static_cast<int>(f.status);
    status.resubmit = false;
  }
  return status;
}

/// Each rank reads its share of the files. Returns the status of all subjects, in order, on every rank.
std::vector<subject_status> gather_statuses(const session& s, const std::vector<cohort_subject>& subjects,
                                            const std::vector<std::string>& more) {
  nlohmann::json own = nlohmann::json::array();
  for (std::size_t i = static_cast<std::size_t>(s.rank()); i < subjects.size(); i += static_cast<std::size_t>(s.size()))
    own.push_back(as_json(checked_status(subjects[i], more)));
  const std::vector<std::string> of_ranks = s.gather(dump_json(own));
  const nlohmann::json gathered = s.from_root([&] {
    nlohmann::json joined = nlohmann::json::array();
    for (const std::string& text : of_ranks)
      for (const auto& j : nlohmann::json::parse(text)) joined.push_back(j);
    return joined;
  });
  std::vector<subject_status> all;
  for (const auto& j : gathered) all.push_back(status_from_json(j));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.task < b.task; });
  return all;
}

/// The words after the batch script's name that give its tasks the same subjects.
std::string script_words(const cohort_request& request) {
  std::string words = quoted_word(request.manifest);
  if (!request.words_template.empty()) words += " --template " + quoted_word(request.words_template);
  return words;
}

/// Throws failure (bad_data, with both lines) if a subject's result is another one's, or has the name of a file that is
/// kept next to it, such as OUT.log, however the two paths are written.
void check_results_differ(const std::string& path, const std::vector<cohort_subject>& subjects) {
  std::vector<file_identity> files;
  std::map<std::string, const cohort_subject*> by_name;
  std::map<std::pair<std::uint64_t, std::uint64_t>, const cohort_subject*> by_number;  // hard links
  for (const cohort_subject& s : subjects) {
    const file_identity& file = files.emplace_back(s.out);
    const cohort_subject* earlier = by_name.emplace(file.name, &s).first->second;
    if (earlier == &s && file.number != 0)
      earlier = by_number.emplace(std::pair(file.device, file.number), &s).first->second;
    if (earlier != &s)
      refuse_data("{} line {}, column out: {} is already used in line {}", path, s.line,
                  std::filesystem::path(s.out).lexically_normal().string(), earlier->line);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i].name;
    for (std::size_t dot = name.rfind('.'); dot != name.npos && name.find('/', dot) == name.npos;
         dot = dot == 0 ? name.npos : name.rfind('.', dot - 1)) {
      const auto other = by_name.find(name.substr(0, dot));
      if (other != by_name.end())
        refuse_data(
            "{} line {}, column out: {} begins with {}, the result of line {}, as the files that are kept next to that "
            "one; choose another name",
            path, subjects[i].line, subjects[i].out, other->second->out, other->second->line);
    }
  }
}

/// Everything that the request writes.
struct cohort_outputs {
  explicit cohort_outputs(const cohort_request& r)
      : table{"--json", r.json == "-" ? "" : r.json, r.overwrite},
        page{"--report", r.page, r.overwrite},
        numbers{"--report", r.page.empty() ? "" : report::json_path(r.page), r.overwrite, file_name::implied} {}
  named_output table, page, numbers;
};

void check_outputs(const cohort_request& request, const std::vector<cohort_subject>& subjects) {
  const cohort_outputs outputs(request);
  if (outputs.table.path.empty() && outputs.page.path.empty()) return;
  std::vector<kept_file> kept{{request.manifest, "also the input --manifest"}};
  for (const cohort_subject& subject : subjects)
    for (kept_file& file : list_subject_files(subject, request.more)) kept.push_back(std::move(file));
  check_output(outputs.table, kept);
  if (!outputs.table.path.empty()) kept.push_back({outputs.table.path, "also the file of --json"});
  check_output(outputs.page, kept);
  check_output(outputs.numbers, kept);
}

void write_cohort_page(const cohort_request& request, const std::vector<subject_status>& all) {
  const cohort_outputs outputs(request);
  const report::page page = report::make_cohort_page(request.manifest, all, request.page);
  write_output(outputs.page, report::write_page(page));
  write_output(outputs.numbers, dump_json(page.numbers, 1) + "\n");
  spdlog::info("{} written, with its numbers in {}", outputs.page.path, outputs.numbers.path);
}

void print_cohort(const cohort_request& request, const std::vector<subject_status>& all) {
  const std::string &manifest = request.manifest, &json = request.json;
  if (request.array) {
    const std::string list = array_list(tasks_to_submit(all));
    if (!list.empty()) fmt::print("{}\n", list);
  } else if (json != "-") {
    fmt::print("{}", cohort_text(script_words(request), all));
  }
  if (json.empty()) return;
  const std::string text = dump_json(cohort_json(manifest, all), 2) + '\n';
  if (json == "-") {
    fmt::print("{}", text);
  } else {
    write_output(cohort_outputs(request).table, text);
  }
}

exit_status run_cohort(session& s, const cohort_request& request) {
  const std::string& path = request.manifest;
  const std::vector<cohort_subject> subjects = parse_manifest(path, read_text(s, path), request.words_template);
  s.on_root([&] { check_results_differ(path, subjects); });
  if (request.task) {
    const std::size_t task = *request.task;
    if (task > subjects.size()) refuse_usage("--run {}: {} has subjects 1 to {}", task, path, subjects.size());
    return run_subject(s, subjects[task - 1], request.more);
  }
  s.on_root([&] { check_outputs(request, subjects); });
  const std::vector<subject_status> all = gather_statuses(s, subjects, request.more);
  if (request.runs_all)
    return run_all(s, {path, request.words_template, request.more, request.per_gpu, request.per_node}, subjects, all);
  s.on_root([&] {
    print_cohort(request, all);
    if (!request.page.empty()) write_cohort_page(request, all);
  });
  return exit_status::complete;
}

/// Only computing needs all ranks.
needed_ranks ranks_of_cohort(const std::vector<std::string>& words) {
  const bool computes = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--run" || word == "--run-all" || word.starts_with("--run=");
  });
  return computes ? needed_ranks::all : needed_ranks::first;
}

constexpr command make_cohort_command() {
  command c =
      make_command<cohort_options, run_cohort>({"cohort", "many subjects: status, what to submit; computes one or all",
                                                "voxherd cohort subjects.tsv\n"
                                                "voxherd cohort subjects.tsv --run-all\n"
                                                "sbatch --array=\"$(voxherd cohort subjects.tsv --array)\" \\\n"
                                                "  slurm/cohort.sbatch subjects.tsv"});
  c.ranks = ranks_of_cohort;
  return c;
}

}  // namespace

extern const command cohort_command = make_cohort_command();

}  // namespace voxherd
